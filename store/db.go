package store

import (
	"context"
	"errors"

	"github.com/retake-debugger/retake/transcript"
)

// ErrNewerSchema says that the file was written by a newer version.
var ErrNewerSchema = errors.New("the database was written by a newer version")

// ErrReplaced says that the file at the path is no longer the one that is open.
var ErrReplaced = errors.New("the database file was removed or replaced")

var errNotYet = errors.New("store: not built yet")

// Options set how a database is opened. The zero Options are good defaults.
type Options struct{}

// DB is an open database. It is safe for concurrent use.
type DB struct{ transcript.Reader }

var _ transcript.Store = (*DB)(nil)

// Open opens the database at path for reading and writing. It makes the file
// (0600) and its folder (0700) if need be and brings an older schema up to
// date. ErrNewerSchema if a newer version has written it.
func Open(path string, o Options) (*DB, error) { return nil, errNotYet }

// OpenReader opens the database at path for reading, also while a recorder in
// another process writes. The error wraps fs.ErrNotExist if there is no file.
func OpenReader(path string) (*DB, error) { return nil, errNotYet }

// Close ends all work on the database.
func (db *DB) Close() error { return nil }

// Check tells whether the open file is still the one at its path; ErrReplaced
// if it is not. It costs one stat.
func (db *DB) Check() error { return nil }

// Update runs f in one transaction.
func (db *DB) Update(ctx context.Context, f func(transcript.Tx) error) error { return errNotYet }

// Problem is one thing that Verify found.
type Problem struct {
	Exchange string // id; "" where the database itself is meant
	N        int64
	Part     string // "exchange", "request", "response" or "database"
	Text     string
}

// Verify rebuilds the bodies of every exchange, holds them against their
// length and SHA-256, and checks the file. progress may be nil.
func (db *DB) Verify(ctx context.Context, progress func(done, total int)) ([]Problem, error) {
	return nil, errNotYet
}

