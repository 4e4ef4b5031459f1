package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/retake-debugger/retake/store/search"
	"github.com/retake-debugger/retake/store/segment"
	"github.com/retake-debugger/retake/transcript"
)

// writer is the only connection of a DB that writes, with what it remembers
// from one transaction to the next. The holder of turn may use it.
type writer struct {
	turn    chan struct{}
	pool    *sql.DB
	conn    *sql.Conn
	st      *statements
	codec   *segment.Codec
	cache   *segment.Cache
	newest  int // the schema that this program knows
	state   state
	version int64     // of the file's data when state was read; another process's commits change it
	stale   bool      // state is not what the file says
	since   time.Time // when this transaction began
	begun   [2]int64  // first segment number of each stream that this transaction may use
	bodies  segment.Writer
	lookup  *lookup
	open    openCalls
	last    lastRows
	headers *headerSets
	models  map[modelKey]int64
	takes   map[int64]storedTake // that go on
}

// lookOften: SQLite looks whether it may write at longer and longer intervals,
// and would miss the moments in which another process rests between its
// transactions; retryBusy looks every millisecond.
const lookOften = "PRAGMA busy_timeout = 0"

func newWriter(ctx context.Context, c *connector, o Options, all []migration) (_ *writer, err error) {
	w := &writer{turn: make(chan struct{}, 1), pool: c.open(), newest: len(all), headers: newHeaderSets(), models: map[modelKey]int64{}, takes: map[int64]storedTake{}, stale: true}
	defer func() {
		if err != nil {
			w.pool.Close()
		}
	}()
	if w.conn, err = w.pool.Conn(ctx); err != nil {
		return nil, err
	}
	if err := migrate(ctx, w.conn, all); err != nil {
		return nil, err
	}
	w.st = newStatements(w.conn.PrepareContext)
	w.st.direct = newDirect(w.conn)
	if _, err := w.conn.ExecContext(ctx, lookOften); err != nil {
		return nil, fmt.Errorf("set how to wait: %w", err)
	}
	w.lookup = &lookup{st: w.st, pending: map[int64][]int64{}}
	w.bodies = segment.Writer{Rows: segmentRows{w.st}, Index: w.lookup, Known: segment.NewKnown(o.memory()), Recent: segment.NewRecent(),
		Next: func() int64 { return w.state.next(&w.state.body) }}
	return w, nil
}

// use returns the writer what it shares with the readers.
func (w *writer) use(c *segment.Codec, cache *segment.Cache) {
	w.codec, w.cache = c, cache
	for n := range w.bodies.Streams {
		w.bodies.Streams[n] = &segment.Stream{Number: n, Codec: c, Rows: segmentRows{w.st}, Next: -1}
	}
}

// lock waits for the turn to write.
func (w *writer) lock(ctx context.Context) error {
	select {
	case w.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait to write: %w", ctx.Err())
	}
}

func (w *writer) unlock() { <-w.turn }

// update runs f in one transaction. The caller holds the turn.
func (w *writer) update(ctx context.Context, f func(*tx) error) error {
	if err := retryBusy(ctx, func() error { return w.st.run("BEGIN IMMEDIATE") }); err != nil {
		return fmt.Errorf("begin transaction: %w", err)
	}
	w.since = time.Now()
	committed := false
	defer func() {
		if !committed { // f may have panicked
			w.forget()
			_ = rollback(w.conn)
		}
	}()
	if err := w.load(); err != nil {
		return err
	}
	t := &tx{w: w, past: past{reader: reader{st: w.st, headers: w.headers, limits: search.UsualLimits(), fewOfRuns: fewOfRuns}, lookup: w.lookup, last: &w.last, before: noBound}}
	t.bodies = &segment.Reader{Rows: w.bodies.Rows, Pack: t.findPack, Beginning: t.findPack, Damaged: damaged}
	w.bodies.Reader, t.usable = t.bodies, t.open
	err := f(t)
	t.done = true
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := w.flush(); err != nil {
		return err
	}
	if err := w.st.run("COMMIT"); err != nil {
		return fmt.Errorf("commit transaction: %w", err)
	}
	committed = true
	return nil
}

// load reads the numbers given out so far, if another process has perhaps given
// out some since.
func (w *writer) load() error {
	var version int64
	if err := w.st.numbers("PRAGMA data_version", nil, func(n int64) { version = n }); err != nil {
		return fmt.Errorf("read state: %w", err)
	}
	if w.stale || version != w.version {
		s, err := readState(w.st, w.newest)
		if err != nil {
			return err
		}
		if s.removals != w.state.removals {
			w.forget()
		}
		w.state, w.version, w.stale = s, version, false
		w.open.forget() // they may have results by now
		w.last.forget()
		clear(w.takes)
		for _, l := range w.bodies.Streams { // another process may have settled its packs
			l.Forget()
		}
	}
	w.state.changed = false
	w.lookup.load(w.state.salt)
	w.begun = [2]int64{w.state.part + 1, w.state.whole + 1}
	for n, l := range w.bodies.Streams {
		if err := l.Load(w.begun[n]); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) flush() error {
	for n, l := range w.bodies.Streams {
		if err := l.Flush(); err != nil {
			return err
		}
		w.state.changed = w.state.changed || l.Next != w.begun[n]
	}
	if !w.state.changed && w.lookup.count == 0 {
		return nil
	}
	if err := w.lookup.flush(&w.state.lookups); err != nil {
		return err
	}
	w.state.part, w.state.whole = w.bodies.Streams[segment.Parts].Next-1, w.bodies.Streams[segment.Wholes].Next-1
	return w.state.write(w.st)
}

// forget drops all that may not be in the database.
func (w *writer) forget() {
	w.bodies.Known.Forget()
	w.bodies.Recent.Forget()
	w.open.forget()
	w.last.forget()
	w.headers.forget()
	clear(w.models)
	clear(w.takes)
	w.stale = true
	for _, l := range w.bodies.Streams {
		l.Forget()
	}
}

func (w *writer) close() error {
	w.st.close()
	return errors.Join(w.conn.Close(), w.pool.Close())
}

// Update runs f in one transaction. It returns nil only after what f wrote is
// in the write-ahead log, which outlives the process; if f fails or panics, or
// ctx ends, nothing is written. f must not call Update, nor use its Tx later.
func (db *DB) Update(ctx context.Context, f func(transcript.Tx) error) error {
	return db.change(ctx, func(t *tx) error { return f(t) })
}

func (db *DB) change(ctx context.Context, f func(*tx) error) error {
	if db.w == nil {
		return errReadOnly
	}
	if err := db.w.lock(ctx); err != nil {
		return err
	}
	defer db.w.unlock()
	if db.closed.Load() {
		return sql.ErrConnDone
	}
	if err := db.w.update(ctx, f); err != nil {
		return err
	}
	db.checkpointer.wrote(db.w.bodies.Streams[segment.Parts].Written + db.w.bodies.Streams[segment.Wholes].Written)
	return nil
}
