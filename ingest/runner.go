package ingest

import (
	"context"
	"iter"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/retake-debugger/retake/recorder/spool"
	"github.com/retake-debugger/retake/redact"
	"github.com/retake-debugger/retake/transcript"
)

const (
	groupSize  = 64                     // captures in one transaction at most; more make none cheaper and take memory
	groupBytes = 4 << 20                // and about so many bytes of bodies
	retryFirst = 100 * time.Millisecond // wait after a commit that did not work, doubled each time
	retryMost  = 5 * time.Second
)

// Runner takes finished exchanges from a spool and commits them in groups
// until its context ends. A commit that does not work is tried again for as
// long as it takes: the spool keeps what is not committed.
type Runner struct {
	// Store gives the store to commit to; it is asked before each commit.
	Store func(context.Context) (transcript.Store, error)
	// Still tells, after a commit, whether that store is still the one to
	// commit to. If not, the group is committed again. May be nil.
	Still func(transcript.Store) error
	// Failed is told why a commit did not work. May be nil.
	Failed func(error)
	Spool  *spool.Spool
	// Pace says when traffic goes first; nil: a pace of its own.
	Pace *Pace
	Log  *slog.Logger

	committer  Committer
	committed  atomic.Int64
	modelCalls atomic.Int64
	failures   atomic.Int64
}

// Stats counts what a runner did.
type Stats struct {
	Committed  int64 `json:"committed"`   // exchanges
	ModelCalls int64 `json:"model_calls"` // those of them in a known dialect; of this process alone
	Failures   int64 `json:"failures"`    // commits that had to be tried again
}

// Omit says, before Run, what is left out of what is stored.
func (r *Runner) Omit(what string) { r.committer.Omit = what }

// Redact says, before Run, by what secrets are replaced in what is stored.
func (r *Runner) Redact(s *redact.Scrubber) { r.committer.Redact = s }

// Stats tells what was done so far.
func (r *Runner) Stats() Stats {
	return Stats{Committed: r.committed.Load(), ModelCalls: r.modelCalls.Load(), Failures: r.failures.Load()}
}

// Run commits until ctx ends, when traffic leaves the time for it. What is not
// committed then stays in the spool.
func (r *Runner) Run(ctx context.Context) {
	pace := r.Pace
	if pace == nil {
		pace = NewPace(r.Spool)
	}
	for {
		first, err := r.Spool.Next(ctx)
		if err != nil {
			return
		}
		pace.wait(ctx)
		stored, ok := r.commit(ctx, r.gather(first))
		if !ok {
			return
		}
		for _, e := range stored {
			if e.Dialect != transcript.Unknown {
				r.modelCalls.Add(1)
			}
		}
	}
}

// gather takes what else waits in the spool for the same transaction.
func (r *Runner) gather(first *spool.Record) []*spool.Record {
	atOnce, cancel := context.WithCancel(context.Background())
	cancel()
	group, bytes := []*spool.Record{first}, size(first)
	for len(group) < groupSize && bytes < groupBytes {
		rec, err := r.Spool.Next(atOnce)
		if err != nil {
			break
		}
		group, bytes = append(group, rec), bytes+size(rec)
	}
	return group
}

func size(r *spool.Record) int64 {
	var n int64
	for _, b := range []transcript.CapturedBody{r.Request, r.Response} {
		if b != nil {
			n += b.Size()
		}
	}
	return n
}

// Take commits records that are not in the spool's own queue, such as those of
// a process that crashed. It says false if ctx ended before all were stored.
func (r *Runner) Take(ctx context.Context, records iter.Seq[*spool.Record]) bool {
	var group []*spool.Record
	var bytes int64
	flush := func() bool {
		_, ok := r.commit(ctx, group)
		group, bytes = nil, 0
		return ok
	}
	for rec := range records {
		group, bytes = append(group, rec), bytes+size(rec)
		if (len(group) == groupSize || bytes >= groupBytes) && !flush() {
			return false
		}
	}
	return len(group) == 0 || flush()
}

// commit stores a group and releases its spool space, trying again until it
// works or ctx ends.
func (r *Runner) commit(ctx context.Context, group []*spool.Record) ([]*transcript.Exchange, bool) {
	captures := make([]*transcript.Capture, len(group))
	for i := range group {
		captures[i] = &group[i].Capture
	}
	var all []*transcript.Exchange
	for wait := retryFirst; ; wait = min(2*wait, retryMost) {
		stored, err := r.try(ctx, captures)
		all = append(all, stored...)
		if err == nil {
			r.committed.Add(int64(len(all)))
			r.release(group)
			return all, true
		}
		if ctx.Err() != nil {
			return nil, false
		}
		r.failures.Add(1)
		if r.Failed != nil {
			r.Failed(err)
		}
		r.Log.Error("commit exchanges", "error", err, "exchanges", len(group), "again_in", wait)
		select {
		case <-ctx.Done():
			return nil, false
		case <-time.After(wait):
		}
	}
}

func (r *Runner) try(ctx context.Context, captures []*transcript.Capture) ([]*transcript.Exchange, error) {
	store, err := r.Store(ctx)
	if err != nil {
		return nil, err
	}
	stored, err := r.committer.Commit(ctx, store, captures)
	if err == nil && r.Still != nil {
		if err = r.Still(store); err != nil {
			return nil, err // nothing of it is where it should be
		}
	}
	return stored, err
}

func (r *Runner) release(group []*spool.Record) {
	for _, rec := range group {
		if err := rec.Release(); err != nil {
			r.Log.Warn("free spool space", "exchange", rec.ID, "error", err)
		}
	}
}
