package ingest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/retake-debugger/retake/transcript"
)

const (
	indexGroup = 64 // exchanges that are looked up at once
	indexFew   = 4  // fewer wait indexWait for more: texts that share a row make a smaller index
	indexWait  = 5 * time.Second
	indexBytes = 32 << 10 // of text in one transaction, about: others wait to write meanwhile
	tidySteps  = 2        // at most after each transaction that indexes
	indexTurns = 8        // while traffic passes, an Indexer rests for so many times as long as it worked
	restMost   = 2 * time.Second
	lookAgain  = 2 * time.Second // how often it looks for what other programs stored

	lookAtTraffic = 100 * time.Millisecond // how often it checks busy traffic
	indexRetry    = 10 * time.Second
	tidyAfter     = 10 * time.Second       // without work: tidying may take seconds, and a short pause is no rest
	lastWithin    = 500 * time.Millisecond // how long it works on when it is stopped
)

// Indexer adds stored exchanges to the search index, with the lowest priority: in small
// transactions, with rests while traffic passes, and not at all while traffic is busy.
// The store keeps its progress, so that it continues where it stopped.
type Indexer struct {
	// Store returns the store to index, nil while there is none. It is called before
	// each transaction.
	Store func(context.Context) (transcript.Store, error)
	// Busy reports whether there is too much traffic to index anything. Passing reports
	// whether there is any, so that the Indexer rests in between. Both may be nil.
	Busy, Passing func() bool
	// Lazy leaves the index empty while there are few exchanges: reading them is as
	// fast, and the file is half as large.
	Lazy bool
	Log  *slog.Logger

	reader   textReader
	tidied   int64        // exchange+1 when the index was last tidy
	worked   time.Time    // last time that there was something to index
	newest   int64        // last exchange that was seen
	since    time.Time    // when newest came
	exchange atomic.Int64 // indexed by this process
	failures atomic.Int64
}

// IndexStats counts what an indexer did.
type IndexStats struct {
	Indexed  int64 `json:"indexed"`  // exchanges, by this process
	Failures int64 `json:"failures"` // transactions that failed and exchanges that could not be read
}

// Stats returns what was done so far.
func (x *Indexer) Stats() IndexStats {
	return IndexStats{Indexed: x.exchange.Load(), Failures: x.failures.Load()}
}

// Run indexes until ctx ends, and then for a short time what is left. It returns at once
// if the store has no index.
func (x *Indexer) Run(ctx context.Context) {
	defer x.finish()
	for x.calm(ctx) {
		began := time.Now()
		n, err := x.group(ctx, false)
		wait := x.rest(time.Since(began))
		switch {
		case ctx.Err() != nil || errors.Is(err, transcript.ErrNoIndex):
			return
		case err != nil:
			x.failures.Add(1)
			x.Log.Error("index for search", "error", err, "again_in", indexRetry)
			wait = indexRetry
		case n == 0:
			wait = x.tidy(ctx)
		default:
			x.worked = time.Now()
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// tidy takes a step in maintaining the index if there has been nothing else to do for a
// while. It returns how long to wait before the next step.
func (x *Indexer) tidy(ctx context.Context) time.Duration {
	if x.tidied == x.exchange.Load()+1 || time.Since(x.worked) < tidyAfter || x.Passing != nil && x.Passing() {
		return lookAgain
	}
	more, err := x.tidyOnce(ctx)
	if err != nil && ctx.Err() == nil {
		x.failures.Add(1)
		x.Log.Error("tidy index for search", "error", err, "again_in", indexRetry)
		return indexRetry
	}
	if !more {
		x.tidied = x.exchange.Load() + 1
		return lookAgain
	}
	return 0
}

func (x *Indexer) tidyOnce(ctx context.Context) (more bool, err error) {
	store, err := x.Store(ctx)
	if err != nil || store == nil {
		return false, err
	}
	err = store.Update(ctx, func(tx transcript.Tx) error {
		more, err = tx.TidyTexts()
		return err
	})
	return more, err
}

// keepTidy takes some steps in maintaining the index after each transaction that
// indexes, so that segments do not pile up. A failure there does not stop indexing.
func (x *Indexer) keepTidy(ctx context.Context) {
	for n, more := 0, true; more && n < tidySteps; n++ {
		var err error
		if more, err = x.tidyOnce(ctx); err != nil && ctx.Err() == nil {
			x.failures.Add(1)
			x.Log.Error("tidy index for search", "error", err)
		}
	}
}

// finish indexes the last exchanges, so that later searches need not read them.
func (x *Indexer) finish() {
	ctx, cancel := context.WithTimeout(context.Background(), lastWithin)
	defer cancel()
	x.Busy, x.Passing = nil, nil
	for {
		if n, err := x.group(ctx, true); n == 0 || err != nil {
			return
		}
	}
}

// calm waits until traffic is not busy. It returns false if ctx ends first.
func (x *Indexer) calm(ctx context.Context) bool {
	for x.Busy != nil && x.Busy() {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(lookAtTraffic):
		}
	}
	return ctx.Err() == nil
}

// rest returns how long to wait after so much work.
func (x *Indexer) rest(worked time.Duration) time.Duration {
	if x.Passing == nil || !x.Passing() {
		return 0
	}
	return min(indexTurns*worked, restMost)
}

// Index indexes all that is stored, without rests, and leaves the index tidy. It returns
// the number of exchanges.
func Index(ctx context.Context, s transcript.Store) (int64, error) {
	x := &Indexer{Store: func(context.Context) (transcript.Store, error) { return s, nil }, Log: slog.New(slog.DiscardHandler)}
	for {
		if n, err := x.group(ctx, true); err != nil {
			return x.exchange.Load(), err
		} else if n == 0 {
			break
		}
	}
	for {
		if more, err := x.tidyOnce(ctx); !more || err != nil {
			return x.exchange.Load(), err
		}
	}
}

// group indexes the next few exchanges and returns how many. The last ones wait for
// others unless all is set.
func (x *Indexer) group(ctx context.Context, all bool) (int, error) {
	store, err := x.Store(ctx)
	if err != nil || store == nil {
		return 0, err
	}
	state, err := store.SearchState(ctx)
	if err == nil && !state.Index {
		err = transcript.ErrNoIndex
	}
	if err != nil || state.Lag == 0 || x.Lazy && state.Few() {
		return 0, err
	}
	list, err := store.Unindexed(ctx, indexGroup)
	if err != nil || len(list) == 0 || !all && x.waits(list) {
		return 0, err
	}
	g, err := x.gather(ctx, store, list, state.Done)
	if err != nil {
		return 0, err
	}
	return len(g.u), x.put(ctx, g.parts())
}

// gather reads the first exchanges of a list that fit in one transaction. done is the
// exchange up to which all are indexed.
func (x *Indexer) gather(ctx context.Context, store transcript.Store, list []transcript.Unindexed, done int64) (g gathering, err error) {
	for _, u := range list {
		again := u.N <= done // replaces its former texts
		if again && len(g.u) > 0 {
			break
		}
		items, settings, err := x.read(ctx, store, u)
		if err != nil {
			if ctx.Err() != nil {
				return g, err
			}
			x.failures.Add(1)
			x.Log.Warn("an exchange cannot be indexed for search", "exchange", u.N, "error", err)
		}
		size := 0
		for i := range items {
			size += len(items[i].Text)
		}
		if size > indexBytes && len(g.u) > 0 {
			break // one that needs several transactions is alone
		}
		g.u, g.bytes = append(g.u, u), g.bytes+size
		if err := caught(func() { g.add(items, settings) }); err != nil {
			x.failures.Add(1)
			x.Log.Error("an exchange cannot be indexed for search", "exchange", u.N, "error", err)
		}
		if again || g.bytes > indexBytes {
			break
		}
	}
	return g, nil
}

// read reads what is to be indexed of an exchange. A panic becomes an error: it must not
// end the recorder.
func (x *Indexer) read(ctx context.Context, store transcript.Store, u transcript.Unindexed) (items []transcript.SearchItem, settings []transcript.Key, err error) {
	panicked := caught(func() { items, settings, err = x.reader.read(ctx, store, u) })
	return items, settings, errors.Join(err, panicked)
}

// caught calls f and returns its panic as an error.
func caught(f func()) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("panic: %v", fault)
		}
	}()
	f()
	return nil
}

// waits reports whether a few exchanges should wait for more.
func (x *Indexer) waits(list []transcript.Unindexed) bool {
	if newest := list[len(list)-1].N; newest != x.newest {
		x.newest, x.since = newest, time.Now()
	}
	return len(list) < indexFew && time.Since(x.since) < indexWait
}

// gathering is what one transaction indexes, or several of a single exchange.
type gathering struct {
	texts
	u     []transcript.Unindexed
	bytes int
}

// parts returns what is gathered. A single exchange is split into one part for each
// transaction.
func (g *gathering) parts() []transcript.SearchTexts {
	g.flush()
	list, from, bytes := g.list, 0, 0
	var parts []transcript.SearchTexts
	for i := 0; len(g.u) == 1 && i < len(list)-1; i++ {
		if bytes += list[i].Bytes(); bytes >= indexBytes {
			parts = append(parts, transcript.SearchTexts{Exchanges: g.u, From: from, Texts: list[from : i+1]})
			from, bytes = i+1, 0
		}
	}
	return append(parts, transcript.SearchTexts{Exchanges: g.u, From: from, Texts: list[from:], Last: true})
}

// put writes each part in a transaction. It stops without an error where another
// process was faster.
func (x *Indexer) put(ctx context.Context, parts []transcript.SearchTexts) error {
	for len(parts) > 0 {
		store, err := x.Store(ctx)
		if err != nil || store == nil {
			return err
		}
		p, began, ok := &parts[0], time.Now(), false
		err = store.Update(ctx, func(tx transcript.Tx) error {
			ok, err = tx.PutTexts(*p)
			return err
		})
		if err != nil {
			return err
		}
		x.keepTidy(ctx)
		if !ok {
			return nil
		}
		if p.Last {
			x.exchange.Add(int64(len(p.Exchanges)))
		}
		parts = parts[1:]
		if len(parts) > 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(x.rest(time.Since(began))):
			}
			if !x.calm(ctx) {
				return ctx.Err()
			}
		}
	}
	return nil
}
