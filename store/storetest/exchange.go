package storetest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/transcript"
)

func emptyStore(t *testing.T, s transcript.Store) {
	ctx := t.Context()
	for name, ask := range map[string]func() error{
		"Exchange":  func() error { _, err := s.Exchange(ctx, id(1)); return err },
		"ExchangeN": func() error { _, err := s.ExchangeN(ctx, 1); return err },
		"Run":       func() error { _, err := s.Run(ctx, id(1)); return err },
		"Body":      func() error { _, err := s.Body(ctx, 1); return err },
	} {
		if err := ask(); !errors.Is(err, transcript.ErrNotFound) {
			t.Errorf("%s: got %v, want ErrNotFound", name, err)
		}
	}
	list, err := collect(s.Exchanges(ctx, transcript.Filter{}))
	if len(list) > 0 || err != nil {
		t.Errorf("Exchanges: %v, %v", list, err)
	}
	if ids, err := s.FindExchanges(ctx, "", 10); len(ids) > 0 || err != nil {
		t.Errorf("FindExchanges: %v, %v", ids, err)
	}
	if list, err := s.Children(ctx, id(1)); len(list) > 0 || err != nil {
		t.Errorf("Children: %v, %v", list, err)
	}
	if list, err := s.Calls(ctx, []string{id(1)}); len(list) > 0 || err != nil {
		t.Errorf("Calls: %v, %v", list, err)
	}
	if list, err := s.Takes(ctx, ""); len(list) > 0 || err != nil {
		t.Errorf("Takes: %v, %v", list, err)
	}
}

func exchangeWhole(t *testing.T, s transcript.Store) {
	want := full(1)
	update(t, s, func(tx transcript.Tx) error {
		var err error
		if want.Request.Body, err = tx.PutBody(pieces([]byte("ask"))); err != nil {
			return err
		}
		if want.Response.Body, err = tx.PutBody(pieces([]byte("answer"))); err != nil {
			return err
		}
		return tx.PutExchange(want)
	})
	if want.N != 1 {
		t.Errorf("N is %d, want 1", want.N)
	}
	got, err := s.Exchange(t.Context(), want.ID)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "Exchange", got, want)
	if got, err = s.ExchangeN(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	same(t, "ExchangeN", got, want)
	want.Response.Chunks = nil // listings leave them out
	for e, err := range s.Exchanges(t.Context(), transcript.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		e.Response.Chunks = nil
		same(t, "Exchanges", e, want)
	}
}

func exchangeZero(t *testing.T, s transcript.Store) {
	want := &transcript.Exchange{ID: id(1)}
	put(t, s, want)
	got, err := s.ExchangeN(t.Context(), want.N)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "exchange", got, want)
	if got.Error != nil || got.Usage != nil {
		t.Errorf("error %v and usage %v came from nothing", got.Error, got.Usage)
	}
	// Nothing is not the same as zeros.
	want = &transcript.Exchange{ID: id(2), Error: &transcript.Error{}, Usage: &transcript.Usage{}}
	put(t, s, want)
	if got, err = s.ExchangeN(t.Context(), want.N); err != nil {
		t.Fatal(err)
	}
	if got.Error == nil || got.Usage == nil {
		t.Errorf("error %v or usage %v was lost", got.Error, got.Usage)
	}
}

// exchangeStrange stores what a hostile peer may send.
func exchangeStrange(t *testing.T, s transcript.Store) {
	strange := "a\x00b\x1b[31m\xff\xfe\u202e\ufffd" + strings.Repeat("long", 5000)
	e := full(1)
	e.ID, e.Link.Run, e.Link.Parent = "not a uuid", "ABCDEF00-0000-7000-8000-00000000000A", "'; --"
	e.Request.SHA256 = "not a hash"
	e.Model, e.FinishReason, e.Preview, e.ResponseID, e.URL = strange, strange, strange, strange, strange
	e.Error.Message = strange
	e.Outcome, e.Dialect = transcript.Outcome("new"), transcript.Dialect("new")
	e.Request.Headers = map[string][]string{strange: {strange, "\x80"}, "": {""}, "Empty": {}}
	put(t, s, e)
	f := full(2) // the same names, other values
	f.Request.Headers = map[string][]string{strange: {"x"}, "": {"", ""}, "Empty": {"y"}}
	put(t, s, f)
	for _, want := range []*transcript.Exchange{e, f} {
		got, err := s.Exchange(t.Context(), want.ID)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "exchange", got, want)
	}
	ids, err := s.FindExchanges(t.Context(), "a uu", 2)
	if err != nil || !slices.Equal(ids, []string{"not a uuid"}) {
		t.Errorf("FindExchanges: %q, %v", ids, err)
	}
}

func exchangeTwice(t *testing.T, s transcript.Store) {
	put(t, s, plain(1))
	if err := s.Update(t.Context(), func(tx transcript.Tx) error { return tx.PutExchange(plain(1)) }); err == nil {
		t.Error("no error")
	}
	again := plain(2)
	put(t, s, again)
	if _, err := s.ExchangeN(t.Context(), again.N); err != nil {
		t.Error(err)
	}
}

func exchangeNumbers(t *testing.T, s transcript.Store) {
	a, b, c := plain(1), plain(2), plain(3)
	put(t, s, a, b)
	put(t, s, c)
	same(t, "numbers", []int64{a.N, b.N, c.N}, []int64{1, 2, 3})
}

func exchangeOwned(t *testing.T, s transcript.Store) {
	put(t, s, full(1))
	first, err := s.ExchangeN(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	first.Request.Headers["Content-Type"][0] = "spoiled"
	first.Request.Headers["New"] = []string{"x"}
	first.Warnings[0] = "spoiled"
	got, err := s.ExchangeN(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	want := full(1)
	want.N = 1
	same(t, "exchange", got, want)
}

func findExchanges(t *testing.T, s transcript.Store) {
	list := []*transcript.Exchange{plain(1), plain(2), plain(0xabc)}
	list = append(list, plain(0xabd))
	put(t, s, list...)
	for _, c := range []struct {
		part  string
		limit int
		want  []string
	}{
		{id(2), 5, []string{id(2)}},
		{"0196b0aa-0ab", 5, []string{id(0xabd), id(0xabc)}},
		{"0196b0aa", 3, []string{id(0xabd), id(0xabc), id(2)}},
		{"0ABC", 5, []string{id(0xabc)}},
		{"00abd", 5, []string{id(0xabd)}},
		{"aa0abd", 5, nil}, // a dash lies between
		{"-0abd-7", 5, []string{id(0xabd)}},
		{"ffff", 5, nil},
		{"%", 5, nil},
		{"_", 5, nil},
		{"", 1, []string{id(0xabd)}},
		{"0196", 0, nil},
	} {
		got, err := s.FindExchanges(t.Context(), c.part, c.limit)
		if err != nil {
			t.Fatal(err)
		}
		same(t, c.part, got, c.want)
	}
}

func links(t *testing.T, s transcript.Store) {
	a, b, c, d := plain(1), plain(2), plain(3), plain(4)
	a.Link.OutNode, a.ResponseID = node(1), "resp_1"
	b.Link.Parent, b.Link.InNode, b.Link.OutNode = a.ID, node(2), node(3)
	b.Link.NodeWithoutIDs, c.Link.NodeWithoutIDs = node(3), node(4)
	c.Link.Parent, c.Link.InNode, c.Link.OutNode, c.ResponseID = a.ID, node(2), node(3), "resp_1"
	put(t, s, a, b, c, d)
	children, err := s.Children(t.Context(), a.ID)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "children", idsOf(children), []string{b.ID, c.ID})
	if children, err = s.Children(t.Context(), ""); err != nil || len(children) > 0 {
		t.Errorf("children of nothing: %v, %v", idsOf(children), err)
	}
	update(t, s, func(tx transcript.Tx) error {
		out := func(n transcript.Node, limit int) []string { return found(t, tx.ByOutNode, n, limit) }
		same(t, "out node", out(node(3), 10), []string{c.ID, b.ID})
		same(t, "out node, limit 1", out(node(3), 1), []string{c.ID})
		same(t, "out node of in node", out(node(2), 10), []string{})
		same(t, "no node", out(transcript.Node{}, 10), []string{})
		same(t, "in node", found(t, tx.ByInNode, node(2), 10), []string{c.ID, b.ID})
		same(t, "node without call ids, that of the output", found(t, tx.ByNodeWithoutIDs, node(3), 10), []string{b.ID})
		same(t, "node without call ids", found(t, tx.ByNodeWithoutIDs, node(4), 10), []string{c.ID})
		same(t, "no in node", found(t, tx.ByInNode, transcript.Node{}, 10), []string{})
		e, err := tx.ByResponseID("resp_1")
		if err != nil || e.ID != c.ID {
			t.Errorf("ByResponseID: %v, %v", e, err)
		}
		for _, id := range []string{"resp_2", ""} {
			if _, err := tx.ByResponseID(id); !errors.Is(err, transcript.ErrNotFound) {
				t.Errorf("ByResponseID %q: %v", id, err)
			}
		}
		for id, want := range map[string]bool{a.ID: true, b.ID: false, "": false, "none": false} {
			if got, err := tx.Extended(id); got != want || err != nil {
				t.Errorf("Extended %q: %v, %v", id, got, err)
			}
		}
		for id, want := range map[string]bool{a.ID: true, "": false, "none": false} {
			if got, err := tx.HasExchange(id); got != want || err != nil {
				t.Errorf("HasExchange %q: %v, %v", id, got, err)
			}
		}
		return nil
	})
}

func found(t *testing.T, by func(transcript.Node, int) ([]*transcript.Exchange, error), n transcript.Node, limit int) []string {
	t.Helper()
	list, err := by(n, limit)
	if err != nil {
		t.Error(err)
	}
	return idsOf(list)
}

func idsOf(list []*transcript.Exchange) []string {
	var ids []string
	for _, e := range list {
		ids = append(ids, e.ID)
	}
	return ids
}
