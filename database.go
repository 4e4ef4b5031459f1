package retake

import (
	"context"
	"errors"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// keptUnpacked is how many bytes of unpacked bodies the database keeps in memory:
// less than a program that only reads, because here the search index reads most, and
// it reads each exchange once.
const keptUnpacked = 1 << 20

// Store returns the open database, nil if none is open.
func (db *DB) Store() *store.DB { return db.store.Load() }

// Opened waits until the database is open or ctx ends. It returns an error at once
// if waiting does not help; a deadline that passes is no error.
func (db *DB) Opened(ctx context.Context) error {
	_, err := db.current(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// current returns the database at the path. It opens it if it is not the one that is
// open. It stops waiting when ctx ends; opening goes on.
func (db *DB) current(ctx context.Context) (*store.DB, error) {
	if rows := db.store.Load(); rows != nil && rows.Check() == nil {
		return rows, nil
	}
	select {
	case db.opening <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	type opened struct {
		rows *store.DB
		err  error
	}
	result := make(chan opened, 1)
	go func() {
		defer func() { <-db.opening }()
		rows, err := db.open()
		result <- opened{rows, err}
	}()
	select {
	case o := <-result:
		return o.rows, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (db *DB) open() (*store.DB, error) {
	if rows := db.store.Load(); rows != nil {
		err := rows.Check()
		if err == nil {
			return rows, nil
		}
		db.log.Warn("open the database again", "reason", err, "path", db.path)
		// Close it first: its log must not be taken for that of the new file.
		db.store.Store(nil)
		if err := rows.Close(); err != nil {
			db.log.Warn("close the database that was replaced", "error", err)
		}
	}
	rows, err := store.Open(db.path, store.Options{Cache: keptUnpacked})
	if err != nil {
		return nil, err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return nil, errors.Join(errors.New("open database: closed meanwhile"), rows.Close())
	}
	db.store.Store(rows)
	if db.onOpen != nil {
		db.onOpen(rows)
	}
	return rows, nil
}

// ifOpen returns the database if it is open.
func (db *DB) ifOpen(context.Context) (transcript.Store, error) {
	if rows := db.store.Load(); rows != nil {
		return rows, nil
	}
	return nil, nil
}

// failed logs once what to do about an error that waiting does not mend.
func (db *DB) failed(err error) {
	if errors.Is(err, store.ErrNewerSchema) && !db.outdated.Swap(true) {
		db.log.Error("a newer version has changed the database: what is recorded stays in the spool until that version's recorder stores it; stop this one")
	}
	if errors.Is(err, store.ErrOlderSchema) && !db.outdated.Swap(true) {
		db.log.Error("a version before the first release wrote the database: what is recorded stays in the spool until that file is moved away; export it with that version and import the archive with this one")
	}
}

// passing reports whether traffic passes.
func (db *DB) passing() bool { return db.left() > 0 }
