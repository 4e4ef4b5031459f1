package storetest

import (
	"slices"
	"testing"

	"github.com/retake-debugger/retake/transcript"
)

func listFilters(t *testing.T, s transcript.Store) {
	run := id(700)
	var list []*transcript.Exchange
	for n := 1; n <= 12; n++ {
		e := plain(n)
		if n%2 == 0 {
			e.Dialect = transcript.Messages
		}
		if n%3 == 0 {
			e.Model, e.ResponseModel = "claude-x", "Claude-X-2026"
		}
		if n%4 == 0 {
			e.Outcome = transcript.HTTPError
		}
		if n > 8 {
			e.Link.Run = run
		}
		list = append(list, e)
	}
	put(t, s, list...)
	for name, c := range map[string]struct {
		f    transcript.Filter
		want []int64
	}{
		"all":              {transcript.Filter{}, []int64{12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1}},
		"oldest, limit":    {transcript.Filter{Oldest: true, Limit: 3}, []int64{1, 2, 3}},
		"limit":            {transcript.Filter{Limit: 2}, []int64{12, 11}},
		"before":           {transcript.Filter{Before: 4}, []int64{3, 2, 1}},
		"after":            {transcript.Filter{After: 10}, []int64{12, 11}},
		"after and before": {transcript.Filter{After: 3, Before: 6, Oldest: true}, []int64{4, 5}},
		"dialect":          {transcript.Filter{Dialect: transcript.Messages}, []int64{12, 10, 8, 6, 4, 2}},
		"no such dialect":  {transcript.Filter{Dialect: "x"}, nil},
		"outcome":          {transcript.Filter{Outcome: transcript.HTTPError}, []int64{12, 8, 4}},
		"outcome ok":       {transcript.Filter{Outcome: transcript.OK, Limit: 3}, []int64{11, 10, 9}},
		"run":              {transcript.Filter{Run: run, Oldest: true}, []int64{9, 10, 11, 12}},
		"no such run":      {transcript.Filter{Run: id(1)}, nil},
		"asked model":      {transcript.Filter{Model: "claude-x"}, []int64{12, 9, 6, 3}},
		"answered model":   {transcript.Filter{Model: "x-2026", Limit: 2}, []int64{12, 9}},
		"literal":          {transcript.Filter{Model: "%"}, nil},
		"all of them": {transcript.Filter{Run: run, Dialect: transcript.Messages, Outcome: transcript.HTTPError, Model: "claude",
			After: 1, Before: 13, Limit: 5}, []int64{12}},
	} {
		got, err := collect(s.Exchanges(t.Context(), c.f))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		same(t, name, got, c.want)
	}
}

// listPages lists more than any store reads at once.
func listPages(t *testing.T, s transcript.Store) {
	const total = 1234
	var list []*transcript.Exchange
	var want []int64
	for n := 1; n <= total; n++ {
		list = append(list, plain(n))
		want = append(want, int64(n))
	}
	put(t, s, list...)
	got, err := collect(s.Exchanges(t.Context(), transcript.Filter{Oldest: true}))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "oldest first", got, want)
	slices.Reverse(want)
	if got, err = collect(s.Exchanges(t.Context(), transcript.Filter{Limit: 1000})); err != nil {
		t.Fatal(err)
	}
	same(t, "newest first", got, want[:1000])
}

// listNested asks and writes while it lists.
func listNested(t *testing.T, s transcript.Store) {
	for n := 1; n <= 30; n++ {
		put(t, s, plain(n))
	}
	seen := 0
	for e, err := range s.Exchanges(t.Context(), transcript.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		seen++
		for inner, err := range s.Exchanges(t.Context(), transcript.Filter{Before: e.N, Limit: 2}) {
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Exchange(t.Context(), inner.ID); err != nil {
				t.Fatal(err)
			}
		}
		put(t, s, plain(1000+seen))
		if seen == 20 {
			break
		}
	}
	if seen != 20 {
		t.Errorf("saw %d exchanges", seen)
	}
}
