package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/retake-debugger/retake/transcript"
)

// searchable skips a store that keeps no index in this build, once it has seen
// that it says so.
func searchable(t *testing.T, s transcript.Store) {
	t.Helper()
	state, err := s.SearchState(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if state.Index {
		return
	}
	for _, err := range s.Search(t.Context(), transcript.SearchQuery{Text: "text"}) {
		if !errors.Is(err, transcript.ErrNoIndex) {
			t.Errorf("search without an index: %v, want ErrNoIndex", err)
		}
	}
	t.Skip("this build has no search index")
}

func item(n int64, at string) transcript.SearchItem {
	return transcript.SearchItem{Exchange: n, Body: "request", At: at, Segment: transcript.BodyID(100*n + 1), Kind: transcript.ToolResult, Tool: "read", IsError: n%2 == 0}
}

// words makes a text of items that all say the same.
func words(text string, items ...transcript.SearchItem) transcript.SearchText {
	for i := range items {
		items[i].Text = text
	}
	return transcript.SearchText{Items: items}
}

// putTexts indexes a whole exchange.
func putTexts(t *testing.T, s transcript.Store, n int64, texts ...transcript.SearchText) {
	t.Helper()
	putPart(t, s, transcript.SearchTexts{Exchanges: []transcript.Unindexed{{N: n}}, Texts: texts, Last: true}, true)
}

func putPart(t *testing.T, s transcript.Store, p transcript.SearchTexts, want bool) {
	t.Helper()
	update(t, s, func(tx transcript.Tx) error {
		ok, err := tx.PutTexts(p)
		if ok != want {
			t.Errorf("texts of %v from %d: taken %v, want %v", p.Exchanges, p.From, ok, want)
		}
		return err
	})
}

func searched(t *testing.T, s transcript.Store, q transcript.SearchQuery) (found []transcript.SearchItem) {
	t.Helper()
	for it, err := range s.Search(t.Context(), q) {
		if err != nil {
			t.Fatalf("search %+v: %v", q, err)
		}
		found = append(found, it)
	}
	return found
}

func search(text string) transcript.SearchQuery { return transcript.SearchQuery{Text: text} }

func searchFinds(t *testing.T, s transcript.Store) {
	searchable(t, s)
	put(t, s, plain(1), plain(2), plain(3))
	a, b, c := item(1, "/input/0"), item(1, "/input/1"), item(2, "/input/2")
	c.Body, c.Kind, c.Tool, c.Segment = "response", transcript.ToolCall, "", 0
	putTexts(t, s, 1, words("The quick Brown fox — läuft", a, b))
	putTexts(t, s, 2, words("brown bread", c))
	for query, want := range map[string][]transcript.SearchItem{
		"BROWN": {c, b, a}, "brown b": {c}, "— LÄU": {b, a}, "": {c, b, a}, "nowhere": nil, `"`: nil, "own": {c, b, a},
	} {
		if query == `"` {
			for _, err := range s.Search(t.Context(), search(query)) {
				if !errors.Is(err, transcript.ErrNoIndex) {
					t.Errorf("search for a short text: %v, want ErrNoIndex", err)
				}
			}
			continue
		}
		same(t, "hits of "+query, searched(t, s, search(query)), want)
	}
	q := transcript.SearchQuery{Text: "fox the", Words: true}
	same(t, "hits of words", searched(t, s, q), []transcript.SearchItem{b, a})
}

func searchFilters(t *testing.T, s transcript.Store) {
	searchable(t, s)
	other := plain(2)
	other.Model, other.Status, other.Outcome, other.StartedAt = "Claude", 429, transcript.HTTPError, base.Add(time.Hour)
	put(t, s, plain(1), other)
	a, b := item(1, "/input/0"), item(2, "/input/0")
	a.Tool = "write_file"
	putTexts(t, s, 1, words("same text", a))
	putTexts(t, s, 2, words("same text", b))
	setting := func(n int64) transcript.SearchText {
		return transcript.SearchText{Items: []transcript.SearchItem{{Exchange: n, Body: "request", At: "/system", Kind: transcript.System, Text: "setting"}}, Same: transcript.Key{1}}
	}
	for name, q := range map[string]transcript.SearchQuery{
		"model": {Model: "claude"}, "status": {Status: [2]int{400, 499}}, "outcome": {Outcome: transcript.HTTPError},
		"after": {After: base.Add(time.Minute)}, "tool": {Tool: "REA"}, "error": {Errors: true},
	} {
		same(t, name, searched(t, s, q), []transcript.SearchItem{b})
		q.Text = "same text"
		same(t, name+" and text", searched(t, s, q), []transcript.SearchItem{b})
	}
	same(t, "before", searched(t, s, transcript.SearchQuery{Before: base.Add(time.Minute)}), []transcript.SearchItem{a})

	put(t, s, plain(3), plain(4))
	late := plain(5)
	late.Model = "other"
	put(t, s, late)
	for n := int64(3); n <= 5; n++ {
		putTexts(t, s, n, setting(n))
	}
	want := setting(3).Items[0]
	want.Text = ""
	want.Again = 2
	same(t, "a setting", searched(t, s, search("setting")), []transcript.SearchItem{want})
	want.Exchange = 5
	same(t, "a setting of another model", searched(t, s, transcript.SearchQuery{Text: "setting", Model: "OTHER"}), []transcript.SearchItem{want})
}

func searchProgress(t *testing.T, s transcript.Store) {
	searchable(t, s)
	put(t, s, plain(1), plain(2), plain(3))
	unindexed := func(want ...transcript.Unindexed) {
		t.Helper()
		got, err := s.Unindexed(t.Context(), 10)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "not indexed", got, want)
		state, err := s.SearchState(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		same(t, "lag", state.Lag, int64(len(want)))
	}
	one, two, three := transcript.Unindexed{N: 1}, transcript.Unindexed{N: 2}, transcript.Unindexed{N: 3}
	unindexed(one, two, three)
	putTexts(t, s, 1)
	unindexed(two, three)
	putPart(t, s, transcript.SearchTexts{Exchanges: []transcript.Unindexed{one}, Texts: []transcript.SearchText{words("again", item(1, "/0"))}, Last: true}, false)
	part := func(from int, last bool) transcript.SearchTexts {
		return transcript.SearchTexts{Exchanges: []transcript.Unindexed{two}, From: from, Texts: []transcript.SearchText{words("part", item(2, "/0"))}, Last: last}
	}
	putPart(t, s, part(1, false), false) // nothing came before
	putPart(t, s, part(0, false), true)
	putPart(t, s, part(1, false), true)
	unindexed(two, three)
	putPart(t, s, part(1, false), false)
	putPart(t, s, part(0, false), true) // begun anew, as after a stop
	putPart(t, s, part(1, true), true)
	unindexed(three)
	if n := len(searched(t, s, search("part"))); n != 2 {
		t.Errorf("%d hits, want one of each part", n)
	}
	update(t, s, func(tx transcript.Tx) error { return tx.DropAllTexts() })
	unindexed(one, two, three)
	if n := len(searched(t, s, search("part"))); n != 0 {
		t.Errorf("%d hits in an empty index", n)
	}
	putTexts(t, s, 1, words("part", item(1, "/0")))
	if n := len(searched(t, s, search("part"))); n != 1 {
		t.Errorf("%d hits, want 1", n)
	}
}

func searchDrops(t *testing.T, s transcript.Store) {
	searchable(t, s)
	list := []*transcript.Exchange{plain(1), plain(2), plain(3), plain(4)}
	list[1].Link.Parent, list[2].Link.Parent = list[0].ID, list[0].ID
	put(t, s, list...)
	setting := func(n int64) transcript.SearchText {
		text := words("setting", item(n, "/tools/0"))
		text.Same = transcript.Key{7}
		return text
	}
	for n := int64(1); n <= 4; n++ {
		texts := []transcript.SearchText{words("text", item(n, "/0"))}
		if n != 2 && n != 3 {
			texts = append(texts, setting(n))
		}
		putTexts(t, s, n, texts...)
	}
	update(t, s, func(tx transcript.Tx) error { return tx.DropTexts(list[0].ID) })
	same(t, "hits", searched(t, s, search("text")), []transcript.SearchItem{item(4, "/0"), item(3, "/0"), item(2, "/0")})
	same(t, "a setting that another brings", searched(t, s, search("setting")), []transcript.SearchItem{item(4, "/tools/0")})
	got, err := s.Unindexed(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "to be indexed once more", got, []transcript.Unindexed{{N: 2, Whole: true}})
	putPart(t, s, transcript.SearchTexts{Exchanges: got, Texts: []transcript.SearchText{words("text", item(2, "/0"))}, Last: true}, true)
	same(t, "hits in the order of exchanges", searched(t, s, search("text")), []transcript.SearchItem{item(4, "/0"), item(3, "/0"), item(2, "/0")})
	update(t, s, func(tx transcript.Tx) error { return tx.DropTexts(list[3].ID) })
	same(t, "a setting that nobody brings", searched(t, s, search("setting")), []transcript.SearchItem(nil))
	update(t, s, func(tx transcript.Tx) error { return tx.DropTexts(id(77)) })
}

func piecesOfBody(t *testing.T, s transcript.Store) {
	var body, more, one transcript.BodyID
	update(t, s, func(tx transcript.Tx) (err error) {
		if body, err = tx.PutBody(pieces([]byte("first,"), []byte("second,"), []byte("third"))); err == nil {
			one, err = tx.PutBody(pieces([]byte("alone")))
		}
		if err == nil {
			more, err = tx.PutBody(pieces([]byte("first,"), []byte("second,"), []byte("last,"), []byte("third")))
		}
		return err
	})
	for _, tt := range []struct {
		id, other    transcript.BodyID
		shared, rest int
	}{{more, body, 2, 2}, {body, more, 2, 1}, {body, body, 3, 0}, {one, body, 0, 1}, {body, one, 0, 3}, {body, 0, 0, 3}, {0, body, 0, 0}, {body, 1 << 40, 0, 3}} {
		shared, rest, err := s.SegmentsAfter(t.Context(), tt.id, tt.other)
		if err != nil || shared != tt.shared || len(rest) != tt.rest {
			t.Errorf("pieces of %d behind those of %d: %d shared, %d more (%v); want %d and %d", tt.id, tt.other, shared, len(rest), err, tt.shared, tt.rest)
		}
		list, err := s.Segments(t.Context(), tt.id)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "pieces behind", rest, list[shared:])
	}
	for id, want := range map[transcript.BodyID][]string{body: {"first,", "second,", "third"}, one: {"alone"}, 0: {}} {
		list, err := s.Segments(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, piece := range list {
			b, err := readBody(t.Context(), s, piece)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(b))
		}
		same(t, "pieces", got, want)
	}
}

func searchTogether(t *testing.T, s transcript.Store) {
	searchable(t, s)
	list := []*transcript.Exchange{plain(1), plain(2), plain(3), plain(4)}
	list[1].Model = "other"
	put(t, s, list...)
	together := words("together", item(1, "/0"), item(2, "/0"), item(2, "/1"), item(3, "/0"))
	putPart(t, s, transcript.SearchTexts{Exchanges: []transcript.Unindexed{{N: 1}, {N: 2}, {N: 3}}, Texts: []transcript.SearchText{together}, Last: true}, true)
	got, err := s.Unindexed(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "not indexed", got, []transcript.Unindexed{{N: 4}})
	putPart(t, s, transcript.SearchTexts{Exchanges: []transcript.Unindexed{{N: 3}, {N: 4}}, Last: true}, false)
	same(t, "hits", searched(t, s, search("together")), []transcript.SearchItem{item(3, "/0"), item(2, "/1"), item(2, "/0"), item(1, "/0")})
	same(t, "hits of a model", searched(t, s, transcript.SearchQuery{Text: "together", Model: "other"}), []transcript.SearchItem{item(2, "/1"), item(2, "/0")})
	for i, want := range [][]transcript.SearchItem{{item(3, "/0"), item(2, "/1"), item(2, "/0")}, {item(3, "/0")}, nil} {
		update(t, s, func(tx transcript.Tx) error { return tx.DropTexts(list[i].ID) })
		same(t, "hits", searched(t, s, search("together")), want)
	}
}
