// Package workspace says where the database and the spool lie and keeps both
// working for a program that records: it opens them, runs ingest between them,
// and takes in what an earlier process left behind.
//
// The database may be missing, locked or broken at any time. Recording goes on
// into the spool, and opening is tried again.
package workspace

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/recorder/spool"
	"github.com/retake-debugger/retake/redact"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// DefaultDB is the database file that is meant when none is named.
func DefaultDB(getenv func(string) string) (string, error) {
	if path := getenv("RETAKE_DB"); path != "" {
		return path, nil
	}
	data := getenv("XDG_DATA_HOME")
	if data == "" {
		home := getenv("HOME")
		if home == "" {
			return "", errors.New("find data folder: neither RETAKE_DB, XDG_DATA_HOME nor HOME is set; name a database with --db")
		}
		data = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(data, "retake", "retake.db"), nil
}

// Workspace is a database with its spool.
type Workspace struct {
	path   string
	log    *slog.Logger
	spool  *spool.Spool
	salt   []byte // of fingerprints and placeholders
	redact *redact.Redactor
	runner *ingest.Runner
	index  *ingest.Indexer

	opening chan struct{} // holds a token while somebody opens the database
	mu      sync.Mutex
	onOpen  func(*store.DB)
	closed  bool
	db      atomic.Pointer[store.DB]

	outdated atomic.Bool // a newer version has changed the database

	stop      context.CancelFunc
	recovered chan struct{} // closed when what was left behind has been taken in once
	done      chan struct{}
}

// Open opens the database and its spool and begins to take in what the spool
// gets. It fails if either cannot be opened.
func Open(ctx context.Context, path string, log *slog.Logger) (*Workspace, error) {
	w, err := OpenSpool(path, log)
	if err != nil {
		return nil, err
	}
	if _, err := w.current(ctx); err != nil {
		return nil, errors.Join(err, w.spool.Close())
	}
	w.Start(nil)
	return w, nil
}

// OpenSpool opens the spool alone. Start opens the database.
func OpenSpool(path string, log *slog.Logger) (*Workspace, error) {
	dir := SpoolDir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make spool folder: %w", err)
	}
	salt, err := readSalt(filepath.Join(dir, "salt"))
	if err != nil {
		return nil, err
	}
	spool, err := spool.Open(dir, spool.Options{Log: log, Rest: rest})
	if err != nil {
		return nil, fmt.Errorf("open spool: %w", err)
	}
	w := &Workspace{path: path, log: log, spool: spool, salt: salt, redact: redact.New(salt), opening: make(chan struct{}, 1), recovered: make(chan struct{}), done: make(chan struct{})}
	pace := ingest.NewPace(spool)
	w.runner = &ingest.Runner{Spool: spool, Pace: pace, Log: log,
		Store:  func(ctx context.Context) (transcript.Store, error) { return w.current(ctx) },
		Still:  func(s transcript.Store) error { return s.(*store.DB).Check() },
		Failed: w.failed,
	}
	w.index = &ingest.Indexer{Store: w.ifOpen, Busy: pace.Busy, Passing: w.passing, Log: log}
	return w, nil
}

// saltBytes is the length of the salt of fingerprints and placeholders.
const saltBytes = 32

// keptUnpacked is how much of what was read is kept in memory: less than in a
// program that only reads, since what reads most here is the search index, each
// exchange once.
const keptUnpacked = 1 << 20

// rest is how long an exchange that has ended is left alone.
const rest = 50 * time.Millisecond

// readSalt reads the salt, or makes it. Of two processes that make it at once
// one wins and both read the same. One that was cut, as by a full disk while it
// was made, served nobody: it is made anew.
func readSalt(file string) ([]byte, error) {
	salt, err := os.ReadFile(file)
	for range 100 { // an older version may be writing it just now
		if err != nil || len(salt) == saltBytes {
			break
		}
		time.Sleep(pollStored)
		salt, err = os.ReadFile(file)
	}
	if err == nil && len(salt) == saltBytes {
		return salt, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read salt: %w", err)
	}
	put := os.Link // fails where somebody else came first
	if err == nil {
		put = os.Rename
	}
	if err := makeSalt(file, put); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("write salt: %w", err)
	}
	if salt, err = os.ReadFile(file); err != nil {
		return nil, fmt.Errorf("read salt: %w", err)
	}
	return salt, nil
}

// makeSalt puts a whole new salt in the place of file.
func makeSalt(file string, put func(from, to string) error) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".salt-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	salt := make([]byte, saltBytes)
	rand.Read(salt)
	_, err = f.Write(salt)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return put(f.Name(), file)
}

// Start begins to take in what was left behind and what is recorded. onOpen is
// called with each database that is opened, if set.
func (w *Workspace) Start(onOpen func(*store.DB)) {
	ctx, stop := context.WithCancel(context.Background())
	w.stop = stop
	w.mu.Lock()
	w.onOpen = onOpen
	if db := w.db.Load(); db != nil && onOpen != nil {
		onOpen(db)
	}
	w.mu.Unlock()
	go func() {
		defer close(w.done)
		var all sync.WaitGroup
		all.Go(func() { w.runner.Run(ctx) })
		all.Go(func() { w.recover(ctx) })
		all.Go(func() { w.index.Run(ctx) })
		all.Wait()
	}()
}

// Opened waits until the database is open, for a bounded time. An error that
// waiting does not mend is told at once.
func (w *Workspace) Opened(ctx context.Context) error {
	_, err := w.current(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// recoverEvery is how often it is looked for spools that nobody holds any more:
// another recorder of this database may die while this one runs.
const recoverEvery = 3 * time.Second

// recover takes in the spools of processes that have ended without doing so.
func (w *Workspace) recover(ctx context.Context) {
	told := map[string]bool{} // what stays unreadable is told once
	var first sync.Once
	for ctx.Err() == nil {
		w.takeIn(ctx, told)
		first.Do(func() { close(w.recovered) })
		select {
		case <-ctx.Done():
		case <-time.After(recoverEvery):
		}
	}
}

func (w *Workspace) takeIn(ctx context.Context, told map[string]bool) {
	total := 0
	ok := w.runner.Take(ctx, func(yield func(*spool.Record) bool) {
		for rec, err := range w.spool.Leftovers() {
			if err != nil {
				if !told[err.Error()] {
					w.log.Error("read a spool left behind", "error", err)
					told[err.Error()] = true
				}
				continue
			}
			if total++; !yield(rec) {
				return
			}
		}
	})
	if ok && total > 0 {
		w.log.Info("took in what an earlier process left behind", "exchanges", total)
	}
}

// current gives the database at the path, opening it if it is not the one
// that is open. It gives up waiting when ctx ends; opening then goes on.
func (w *Workspace) current(ctx context.Context) (*store.DB, error) {
	if db := w.db.Load(); db != nil && db.Check() == nil {
		return db, nil
	}
	select {
	case w.opening <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	type opened struct {
		db  *store.DB
		err error
	}
	result := make(chan opened, 1)
	go func() {
		defer func() { <-w.opening }()
		db, err := w.open()
		result <- opened{db, err}
	}()
	select {
	case o := <-result:
		return o.db, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (w *Workspace) open() (*store.DB, error) {
	if db := w.db.Load(); db != nil {
		err := db.Check()
		if err == nil {
			return db, nil
		}
		w.log.Warn("open the database again", "reason", err, "path", w.path)
		// Its log must not be taken for that of the new file, so it goes first.
		w.db.Store(nil)
		if err := db.Close(); err != nil {
			w.log.Warn("close the database that was replaced", "error", err)
		}
	}
	db, err := store.Open(w.path, store.Options{Cache: keptUnpacked})
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, errors.Join(errors.New("open database: closed meanwhile"), db.Close())
	}
	w.db.Store(db)
	if w.onOpen != nil {
		w.onOpen(db)
	}
	return db, nil
}

// Store gives the open database, nil if none is.
func (w *Workspace) Store() *store.DB { return w.db.Load() }

// Recording gives the options by which a recorder records here.
func (w *Workspace) Recording() recorder.Options {
	return recorder.Options{Spool: w.spool, Redact: w.redact, Log: w.log}
}

// Captured counts the exchanges that were recorded so far, and those of them
// that were taken in and are model calls.
func (w *Workspace) Captured() (exchanges, modelCalls int64) {
	s := w.spool.Stats()
	return s.Recorded + s.Lossy, w.runner.Stats().ModelCalls
}

// Status tells more of the workspace than the spool's own counts.
func (w *Workspace) Status() map[string]any {
	return map[string]any{"database": w.path, "database_open": w.db.Load() != nil, "ingest": w.runner.Stats(), "search": w.searchStatus()}
}

// searchStatus tells how far the search index is.
func (w *Workspace) searchStatus() map[string]any {
	s := map[string]any{"indexed": w.index.Stats().Indexed, "failures": w.index.Stats().Failures}
	ctx, cancel := context.WithTimeout(context.Background(), statusWithin)
	defer cancel()
	if db := w.db.Load(); db != nil {
		if state, err := db.SearchState(ctx); err == nil {
			s["index"], s["lag"] = state.Index, state.Lag
		}
	}
	return s
}

// statusWithin bounds how long a status asks the database.
const statusWithin = 200 * time.Millisecond

// failed says once what to do where waiting does not help.
func (w *Workspace) failed(err error) {
	if errors.Is(err, store.ErrNewerSchema) && !w.outdated.Swap(true) {
		w.log.Error("a newer version has changed the database: what is recorded stays in the spool until that version's recorder takes it in; stop this one")
	}
	if errors.Is(err, store.ErrOlderSchema) && !w.outdated.Swap(true) {
		w.log.Error("a version before the first release wrote the database: what is recorded stays in the spool until that file is moved away; export it with that version and import the archive with this one")
	}
}

// ifOpen gives the database if it is open.
func (w *Workspace) ifOpen(context.Context) (transcript.Store, error) {
	if db := w.db.Load(); db != nil {
		return db, nil
	}
	return nil, nil
}

// passing tells whether traffic passes.
func (w *Workspace) passing() bool {
	s := w.spool.Stats()
	return s.InFlight > 0 || s.Backlog > 0
}

const pollStored = 5 * time.Millisecond

// Stored waits until the exchange with that id is stored.
func (w *Workspace) Stored(ctx context.Context, id string) (*transcript.Exchange, error) {
	for {
		if db := w.db.Load(); db != nil {
			e, err := db.Exchange(ctx, id)
			if !errors.Is(err, transcript.ErrNotFound) {
				return e, err
			}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pollStored):
		}
	}
}

// closeWithin bounds how long Close takes in what is left, and how long it
// waits for a database that does not answer.
const closeWithin = 20 * time.Second

// Close takes in what the spool still holds, for a bounded time, and closes
// both. What is not taken in stays in the spool for the next start.
func (w *Workspace) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, closeWithin)
	defer cancel()
	if w.stop != nil {
		w.finish(ctx)
	}
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	errs := make(chan error, 1)
	go func() {
		all := []error{w.spool.Close()}
		if db := w.db.Load(); db != nil {
			all = append(all, db.Close())
		}
		errs <- errors.Join(all...)
	}()
	select {
	case err := <-errs:
		return err
	case <-ctx.Done():
		return errors.New("close database: it does not answer; what is not taken in stays in the spool for the next start")
	}
}

// finish waits until all that was recorded, now or by a process that died, is
// taken in.
func (w *Workspace) finish(ctx context.Context) {
	left := func() int { s := w.spool.Stats(); return s.Backlog + s.InFlight }
	for left() > 0 && ctx.Err() == nil && !w.outdated.Load() {
		time.Sleep(pollStored)
	}
	if !w.outdated.Load() {
		select {
		case <-w.recovered:
		case <-ctx.Done():
		}
	}
	if n := left(); n > 0 {
		w.log.Warn("stop with exchanges left in the spool; the next start takes them in", "exchanges", n)
	}
	w.stop()
	select {
	case <-w.done:
	case <-ctx.Done():
	}
}
