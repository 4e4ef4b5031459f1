package ingest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// counted counts how often nodes are looked up.
type counted struct {
	*store.DB
	lookups int
}

func (c *counted) Update(ctx context.Context, f func(transcript.Tx) error) error {
	return c.DB.Update(ctx, func(tx transcript.Tx) error { return f(&countedTx{tx, c}) })
}

type countedTx struct {
	transcript.Tx
	c *counted
}

func (t *countedTx) ByOutNode(n transcript.Node, limit int) ([]*transcript.Exchange, error) {
	t.c.lookups++
	return t.Tx.ByOutNode(n, limit)
}

// said is a request of n rounds of talk, the last of them without an answer.
func said(topic string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"role":"user","content":"%s %d?"},`, topic, i)
		if i < n-1 {
			fmt.Fprintf(&b, `{"role":"assistant","content":"%s %d."},`, topic, i)
		}
	}
	return `{"model":"m","messages":[` + strings.TrimSuffix(b.String(), ",") + `]}`
}

func replied(topic string, n int) string {
	return fmt.Sprintf(`{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"%s %d."},"finish_reason":"stop"}]}`, topic, n-1)
}

func TestCommit_LooksUpFewPrefixesOfALongHistory(t *testing.T) {
	tests := []struct {
		name     string
		recorded int // rounds, the first ones
		rounds   int // of the request
		lookups  int
		shared   int
	}{
		{"the answer just before", 5, 6, 1, 10},
		{"an answer some rounds before", 5, 20, 15, 10},
		{"a beginning that was recorded, and a long gap", 5, 400, 50, 10},
		{"nothing that was recorded", 0, 400, 50, 0},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			db := &counted{DB: mustOpen(t)}
			topic := fmt.Sprint("topic ", i)
			for n := 1; n <= tt.recorded; n++ {
				commit(t, db.DB, capture(n, "/v1/chat/completions", said(topic, n), replied(topic, n)))
			}
			stored, err := ingest.Commit(context.Background(), db, []*transcript.Capture{
				capture(1000, "/v1/chat/completions", said(topic, tt.rounds), replied(topic, tt.rounds))})
			if err != nil {
				t.Fatal(err)
			}
			if l := stored[0].Link; l.Shared != tt.shared || (l.Parent != "") != (tt.shared > 0) {
				t.Errorf("link %+v, want one that shares %d items", l, tt.shared)
			}
			if db.lookups > tt.lookups {
				t.Errorf("%d lookups, want at most %d", db.lookups, tt.lookups)
			}
		})
	}
}

func TestCommitter_RemembersNothingThatMatters(t *testing.T) {
	var committer ingest.Committer
	with, without := mustOpen(t), mustOpen(t)
	for n := 1; n <= 6; n++ {
		c := capture(n, "/v1/chat/completions", said("tea", n), replied("tea", n))
		a, err := committer.Commit(context.Background(), with, []*transcript.Capture{c})
		if err != nil {
			t.Fatal(err)
		}
		b := commit(t, without, c)
		if a[0].Link.InNode != b[0].Link.InNode || a[0].Link.OutNode != b[0].Link.OutNode || a[0].Link.Parent != b[0].Link.Parent || a[0].Preview != b[0].Preview {
			t.Errorf("step %d: %+v, without memory %+v", n, a[0].Link, b[0].Link)
		}
	}
}
