package storetest

import (
	"cmp"
	"slices"
	"testing"

	"github.com/retake-debugger/retake/transcript"
)

// runUses: what is priced alike is added up, nothing else is; replays, refused
// requests and what asks no model are left out.
func runUses(t *testing.T, s transcript.Store) {
	list := newRuns(t, s, 2)
	run, other := list[0], list[1]
	at := func(n int, r *transcript.Run, model string, u *transcript.Usage) *transcript.Exchange {
		e := inRun(plain(n), r.ID, id(70), n, 1)
		e.URL, e.Status, e.Dialect, e.Model, e.Usage = "https://api.example.com/v1/messages?beta=true", 200, transcript.Messages, model, u
		return e
	}
	five := func() *transcript.Usage {
		return &transcript.Usage{InputTotal: 30, InputUncached: 10, CacheWrite: 20, CacheWrite1h: new(int64), Output: 5, Total: 35, Complete: true}
	}
	hour := func() *transcript.Usage {
		u, n := five(), int64(20)
		u.CacheWrite1h = &n
		return u
	}
	cut, apart, refused, none, take := five(), five(), at(6, run, "m", nil), at(7, run, "m", nil), at(8, run, "m", five())
	cut.Complete, apart.CacheWrite1h, apart.Reasoning, apart.Total = false, nil, 7, 42
	refused.Status, refused.Outcome = 429, transcript.HTTPError
	put(t, s, at(1, run, "m", five()), at(2, run, "m", hour()), at(3, run, "m", cut), at(4, run, "m", apart), at(5, run, "n", five()), refused, none, take, at(9, other, "m", five()))
	update(t, s, func(tx transcript.Tx) error {
		return tx.PutTake(&transcript.Take{ID: id(80), Origin: id(1), Steps: []transcript.TakeStep{{Exchange: take.ID, Step: 1, Attempt: 1}}})
	})
	got, err := s.RunUses(t.Context(), []int64{run.N})
	if err != nil {
		t.Fatal(err)
	}
	twenty := int64(20)
	use := func(model string, exchanges int, u *transcript.Usage) transcript.RunUse {
		return transcript.RunUse{Run: run.N, URL: "https://api.example.com/v1/messages", Model: model, Exchanges: exchanges, Usage: u}
	}
	want := []transcript.RunUse{
		use("m", 1, nil), use("m", 1, cut), use("m", 1, apart),
		use("m", 2, &transcript.Usage{InputTotal: 60, InputUncached: 20, CacheWrite: 40, CacheWrite1h: &twenty, Output: 10, Total: 70, Complete: true}),
		use("n", 1, five()),
	}
	order := func(a, b transcript.RunUse) int {
		key := func(u transcript.RunUse) (n int64) {
			if u.Usage != nil {
				n = u.Usage.Total * 2
				if u.Usage.Complete {
					n++
				}
			}
			return n
		}
		return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(key(a), key(b)))
	}
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	same(t, "uses", got, want)
	if got, err := s.RunUses(t.Context(), nil); err != nil || len(got) != 0 {
		t.Errorf("of no run: %v, %v", got, err)
	}
}
