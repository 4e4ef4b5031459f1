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
	spool  *recorder.Spool
	redact *redact.Redactor
	runner *ingest.Runner

	mu     sync.Mutex
	opened []*store.DB // every database that was open; the last is the current one
	onOpen func(*store.DB)
	db     atomic.Pointer[store.DB]

	stop   context.CancelFunc
	done   chan struct{}
	closed bool
}

// Open opens the database and its spool and begins to take in what the spool
// gets. It fails if either cannot be opened.
func Open(path string, log *slog.Logger) (*Workspace, error) {
	w, err := OpenSpool(path, log)
	if err != nil {
		return nil, err
	}
	if _, err := w.current(); err != nil {
		return nil, errors.Join(err, w.spool.Close())
	}
	w.Start(nil)
	return w, nil
}

// OpenSpool opens the spool alone. Start opens the database.
func OpenSpool(path string, log *slog.Logger) (*Workspace, error) {
	dir := path + ".spool"
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make spool folder: %w", err)
	}
	salt, err := readSalt(filepath.Join(dir, "salt"))
	if err != nil {
		return nil, err
	}
	spool, err := recorder.OpenSpool(dir, recorder.SpoolOptions{Log: log})
	if err != nil {
		return nil, fmt.Errorf("open spool: %w", err)
	}
	w := &Workspace{path: path, log: log, spool: spool, redact: redact.New(salt), done: make(chan struct{})}
	w.runner = &ingest.Runner{Spool: spool, Log: log,
		Store: func(context.Context) (transcript.Store, error) { return w.current() },
		Still: func(s transcript.Store) error { return s.(*store.DB).Check() },
	}
	return w, nil
}

// readSalt reads the salt of the fingerprints of credentials, or makes it.
func readSalt(file string) ([]byte, error) {
	salt, err := os.ReadFile(file)
	if err == nil && len(salt) >= 16 {
		return salt, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read salt: %w", err)
	}
	salt = make([]byte, 32)
	rand.Read(salt)
	if err := os.WriteFile(file, salt, 0o600); err != nil {
		return nil, fmt.Errorf("write salt: %w", err)
	}
	return salt, nil
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
		if _, err := w.current(); err != nil {
			w.log.Error("open database", "error", err, "path", w.path)
		}
		var both sync.WaitGroup
		both.Go(func() { w.runner.Run(ctx) })
		both.Go(func() { w.recover(ctx) })
		both.Wait()
	}()
}

// recoverGroup is how many records left behind are committed at once.
const recoverGroup = 256

// recover takes in the spools of processes that have ended without doing so.
func (w *Workspace) recover(ctx context.Context) {
	var group []*recorder.Record
	total := 0
	for rec, err := range w.spool.Leftovers() {
		if err != nil {
			w.log.Error("read a spool left behind", "error", err)
			continue
		}
		group = append(group, rec)
		total++
		if len(group) == recoverGroup {
			if !w.runner.Take(ctx, group) {
				return
			}
			group = group[:0]
		}
	}
	if w.runner.Take(ctx, group) && total > 0 {
		w.log.Info("took in what an earlier process left behind", "exchanges", total)
	}
}

// current gives the database at the path, opening it if it is not the one
// that is open. The directory may have gone with it.
func (w *Workspace) current() (*store.DB, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if db := w.db.Load(); db != nil {
		err := db.Check()
		if err == nil {
			return db, nil
		}
		w.log.Warn("open the database again", "reason", err, "path", w.path)
	}
	db, err := store.Open(w.path, store.Options{})
	if err != nil {
		return nil, err
	}
	w.opened = append(w.opened, db)
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

// Captured counts the exchanges that were recorded so far.
func (w *Workspace) Captured() int64 {
	s := w.spool.Stats()
	return s.Recorded + s.Lossy
}

// Status tells more of the workspace than the spool's own counts.
func (w *Workspace) Status() map[string]any {
	return map[string]any{"database": w.path, "database_open": w.db.Load() != nil, "ingest": w.runner.Stats()}
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

// closeWithin bounds how long Close takes in what is left.
const closeWithin = 20 * time.Second

// Close takes in what the spool still holds, for a bounded time, and closes
// both. What is not taken in stays in the spool for the next start.
func (w *Workspace) Close(ctx context.Context) error {
	if w.closed {
		return nil
	}
	w.closed = true
	if w.stop != nil {
		w.finish(ctx)
	}
	errs := []error{w.spool.Close()}
	for _, db := range w.opened {
		errs = append(errs, db.Close())
	}
	return errors.Join(errs...)
}

func (w *Workspace) finish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, closeWithin)
	defer cancel()
	for w.spool.Stats().Backlog > 0 && ctx.Err() == nil {
		time.Sleep(pollStored)
	}
	if n := w.spool.Stats().Backlog; n > 0 {
		w.log.Warn("stop with exchanges left in the spool", "exchanges", n)
	}
	w.stop()
	<-w.done
}
