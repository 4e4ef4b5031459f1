package ingest

import (
	"context"
	"log/slog"
	"testing"

	"github.com/retake-debugger/retake/transcript"
)

// panicking is a store that panics when an exchange is read.
type panicking struct{ transcript.Store }

func (panicking) ExchangeN(context.Context, int64) (*transcript.Exchange, error) { panic("hostile") }

// What panics over one exchange neither ends the program nor keeps others from
// being indexed.
func TestIndexer_PanicIsAFailureOfOneExchange(t *testing.T) {
	x := &Indexer{Log: slog.New(slog.DiscardHandler)}
	g, err := x.gather(t.Context(), panicking{}, []transcript.Unindexed{{N: 1}, {N: 2}}, 0)
	if err != nil || len(g.u) != 2 || x.Stats().Failures != 2 {
		t.Errorf("%d exchanges are taken up with %d failures (%v), want 2 and 2", len(g.u), x.Stats().Failures, err)
	}
}
