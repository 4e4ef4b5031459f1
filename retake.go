package retake

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/recorder/spool"
	"github.com/retake-debugger/retake/redact"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// Options are the settings of a database. The zero Options are usable.
type Options struct {
	Label  string           // names the run that the exchanges belong to; "": runs are found from the traffic
	Omit   string           // leaves out of what is stored: "images" or "bodies"
	Redact *redact.Scrubber // replaces secrets in what is stored; nil: bodies are stored as they are
	Prices *pricing.Table   // what tokens cost; nil: the built-in prices
	// Key returns the credential of a variable such as OPENAI_API_KEY, for replays;
	// os.Getenv will do. Nil: only hosts that need none are asked.
	Key func(variable string) string
	Log *slog.Logger // nil: no log
}

// DB is a database with its spool. Its methods may be called concurrently.
type DB struct {
	Reader
	path   string
	label  string
	key    func(string) string
	log    *slog.Logger
	spool  *spool.Spool
	redact *redact.Redactor
	runner *ingest.Runner
	index  *ingest.Indexer

	opening chan struct{} // holds a token while the database is being opened
	mu      sync.Mutex
	onOpen  func(*store.DB)
	closed  bool
	store   atomic.Pointer[store.DB]

	outdated atomic.Bool // a newer version has changed the database

	stop      context.CancelFunc
	recovered chan struct{} // closed after the first look for what dead processes left
	done      chan struct{}
}

// Open opens the database at path with its spool and starts to store what is
// recorded. Both are created if they are not there. It fails if one of them cannot
// be opened.
func Open(ctx context.Context, path string, o Options) (*DB, error) {
	db, err := OpenSpool(path, o)
	if err != nil {
		return nil, err
	}
	if _, err := db.current(ctx); err != nil {
		return nil, errors.Join(err, db.spool.Close())
	}
	db.Start(nil)
	return db, nil
}

// OpenSpool opens the spool alone, for programs that must not wait for the database:
// recording works at once. Start opens the database in the background.
func OpenSpool(path string, o Options) (*DB, error) {
	dir := SpoolDir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make spool folder: %w", err)
	}
	salt, err := readSalt(filepath.Join(dir, "salt"))
	if err != nil {
		return nil, err
	}
	if o.Key == nil {
		o.Key = func(string) string { return "" }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	sp, err := spool.Open(dir, spool.Options{Log: o.Log, Rest: rest})
	if err != nil {
		return nil, fmt.Errorf("open spool: %w", err)
	}
	db := &DB{path: path, label: o.Label, key: o.Key, log: o.Log, spool: sp, redact: redact.New(salt), opening: make(chan struct{}, 1), recovered: make(chan struct{}), done: make(chan struct{})}
	db.Reader = Reader{current: db.current, prices: o.Prices}
	pace := ingest.NewPace(sp)
	db.runner = &ingest.Runner{Spool: sp, Pace: pace, Log: o.Log,
		Store:  func(ctx context.Context) (transcript.Store, error) { return db.current(ctx) },
		Still:  func(s transcript.Store) error { return s.(*store.DB).Check() },
		Failed: db.failed,
	}
	db.index = &ingest.Indexer{Store: db.ifOpen, Busy: pace.Busy, Passing: db.passing, Lazy: true, Log: o.Log}
	db.runner.Omit(o.Omit)
	if o.Redact != nil {
		o.Redact.Keyed(salt) // the same placeholders in every process that shares this spool folder
		db.runner.Redact(o.Redact)
	}
	return db, nil
}

// rest is how long an exchange stays in the spool after its end.
const rest = 50 * time.Millisecond

// Start opens the database in the background and starts to store what is recorded
// and what dead processes left. onOpen, if not nil, is called with each database
// that is opened: another one is when the file is replaced.
func (db *DB) Start(onOpen func(*store.DB)) {
	ctx, stop := context.WithCancel(context.Background())
	db.stop = stop
	db.mu.Lock()
	db.onOpen = onOpen
	if rows := db.store.Load(); rows != nil && onOpen != nil {
		onOpen(rows)
	}
	db.mu.Unlock()
	go func() {
		defer close(db.done)
		var all sync.WaitGroup
		all.Go(func() { db.runner.Run(ctx) })
		all.Go(func() { db.recover(ctx) })
		all.Go(func() { db.index.Run(ctx) })
		all.Wait()
	}()
}

// closeWithin bounds how long Shutdown stores what is left, and how long it waits
// for a database that does not answer.
const closeWithin = 20 * time.Second

// Close stores what the spool still holds and closes both. It takes at most about
// twenty seconds. What is not stored by then stays in the spool for the next start.
func (db *DB) Close() error { return db.Shutdown(context.Background()) }

// Shutdown is Close that gives up waiting when ctx ends.
func (db *DB) Shutdown(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, closeWithin)
	defer cancel()
	if db.stop != nil {
		db.finish(ctx)
	}
	db.mu.Lock()
	db.closed = true
	db.mu.Unlock()
	errs := make(chan error, 1)
	go func() {
		all := []error{db.spool.Close()}
		if rows := db.store.Load(); rows != nil {
			all = append(all, rows.Close())
		}
		errs <- errors.Join(all...)
	}()
	select {
	case err := <-errs:
		return err
	case <-ctx.Done():
		return errors.New("close database: it does not answer; what is not stored stays in the spool for the next start")
	}
}

// finish waits until everything that was recorded, by this process or by one that
// died, is stored.
func (db *DB) finish(ctx context.Context) {
	for db.left() > 0 && ctx.Err() == nil && !db.outdated.Load() {
		time.Sleep(pollEvery)
	}
	if !db.outdated.Load() {
		select {
		case <-db.recovered:
		case <-ctx.Done():
		}
	}
	if n := db.left(); n > 0 {
		db.log.Warn("stop with exchanges left in the spool; the next start stores them", "exchanges", n)
	}
	db.stop()
	select {
	case <-db.done:
	case <-ctx.Done():
	}
}
