package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/retake-debugger/retake/store/search"
	"github.com/retake-debugger/retake/store/segment"
	"github.com/retake-debugger/retake/transcript"
)

// ErrReplaced says that the file at the path is no longer the one that is open.
var ErrReplaced = errors.New("the database file was removed or replaced")

var errReadOnly = errors.New("the database is open for reading only")

// Options set how a database is opened. The zero Options are good defaults.
type Options struct {
	Memory int // bytes that the writer remembers of what was sent last; 0 for 12 MB
	Cache  int // bytes that are kept unpacked for the next reader; 0 for 8 MB
}

func (o Options) memory() int {
	if o.Memory > 0 {
		return o.Memory
	}
	return 12 << 20
}

const (
	readers    = 8       // connections that read
	cachedData = 8 << 20 // unpacked bytes that are kept for the next reader
)

// DB is an open database. It is safe for concurrent use.
type DB struct {
	reader
	path         string
	file         fs.FileInfo
	beside       map[string]fs.FileInfo                // the files that SQLite keeps beside it, by their path
	connect      func(path string) (*connector, error) // for reading
	pool         *sql.DB                               // for reading
	codec        *segment.Codec
	cache        *segment.Cache
	w            *writer // nil when it is open for reading only
	checkpointer *checkpointer
	closed       atomic.Bool
}

var _ transcript.Store = (*DB)(nil)

// Open opens the database at path for reading and writing. It makes the file
// (0600) and its folder (0700) if need be and migrates an older schema.
// ErrNewerSchema or ErrOlderSchema if that is not possible.
func Open(path string, o Options) (*DB, error) {
	db, err := openWriter(path, o)
	if err != nil {
		if isCorrupt(err) {
			err = damaged(err)
		}
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	return db, nil
}

func openWriter(path string, o Options) (_ *DB, err error) {
	if err := create(path); err != nil {
		return nil, err
	}
	all, err := allMigrations()
	if err != nil {
		return nil, err
	}
	writing, err := forWriting(path)
	if err != nil {
		return nil, err
	}
	w, err := newWriter(context.Background(), writing, o, all)
	if err != nil {
		return nil, err
	}
	db, err := newDB(path, forReading)
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	if o.Cache > 0 {
		db.cache.Limit = o.Cache
	}
	db.w = w
	w.use(db.codec, db.cache)
	db.beside = filesBeside(path)
	db.checkpointer = startCheckpointer(writing, w)
	return db, nil
}

// create makes an empty file if there is none. An existing one is not touched:
// closing it here would drop the locks that SQLite holds on it in this process
// (sqlite.org/howtocorrupt.html, section 2.2).
func create(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// OpenReader opens the database at path for reading, also while a recorder in
// another process writes. The error wraps fs.ErrNotExist if there is no file.
// It migrates an older schema first, since there is only one way to read;
// ErrNewerSchema or ErrOlderSchema if that is not possible. Of a damaged file it
// reads what is left.
func OpenReader(path string) (*DB, error) {
	db, err := openReader(path)
	if err != nil {
		if isCorrupt(err) {
			err = damaged(err)
		}
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	return db, nil
}

func openReader(path string) (*DB, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	err := bringUpToDate(context.Background(), path)
	if isCorrupt(err) {
		return openDamaged(path, err)
	}
	if err != nil {
		return nil, err
	}
	db, err := newDB(path, forReading)
	if err == nil {
		db.cut, err = cutInAPage(path)
	}
	return db, err
}

// Cut reports whether the end of the file is missing: less may be listed than there
// was, without an error.
func (db *DB) Cut() bool { return db.cut }

// cutInAPage reports whether the file ends within a page, which SQLite does not mind.
// One that grows right now may seem to.
func cutInAPage(path string) (bool, error) {
	for range 3 {
		info, err := os.Stat(path)
		if err != nil || info.Size()%pageSize == 0 {
			return false, err
		}
		time.Sleep(time.Millisecond)
	}
	return true, nil
}

// openDamaged opens what is left of a file that cannot be opened because of
// that error.
func openDamaged(path string, why error) (*DB, error) {
	db, err := newDB(path, forDamaged)
	if err != nil {
		return nil, why
	}
	var n int64
	if err := db.st.row(context.Background(), "SELECT exchange FROM state", nil, &n); err != nil {
		return nil, errors.Join(why, db.Close())
	}
	db.cut = true
	return db, nil
}

// bringUpToDate migrates a file that needs it and leaves any other alone.
func bringUpToDate(ctx context.Context, path string) error {
	all, err := allMigrations()
	if err != nil {
		return err
	}
	version := 0
	look := func(conn *sql.Conn) error {
		version, err = schemaVersion(ctx, conn)
		return err
	}
	if err := withConn(ctx, path, forReading, look); err != nil {
		return err
	}
	if version == len(all) {
		return nil
	}
	return withConn(ctx, path, forWriting, func(conn *sql.Conn) error { return migrate(ctx, conn, all) })
}

// withConn calls f with a connection of its own.
func withConn(ctx context.Context, path string, connect func(string) (*connector, error), f func(*sql.Conn) error) error {
	c, err := connect(path)
	if err != nil {
		return err
	}
	pool := c.open()
	defer pool.Close()
	conn, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return f(conn)
}

// newDB opens what readers need.
func newDB(path string, connect func(string) (*connector, error)) (*DB, error) {
	c, err := connect(path)
	if err != nil {
		return nil, err
	}
	file, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	codec, err := segment.NewCodec()
	if err != nil {
		return nil, err
	}
	db := &DB{path: path, file: file, connect: connect, pool: c.open(), codec: codec, cache: &segment.Cache{Limit: cachedData}}
	db.pool.SetMaxOpenConns(readers)
	db.pool.SetMaxIdleConns(readers)
	db.reader = reader{st: newStatements(db.pool.PrepareContext), headers: newHeaderSets(), limits: search.UsualLimits(), fewOfRuns: fewOfRuns,
		bodies: &segment.Reader{Rows: segmentRows{}, Recipes: &segment.Recipes{}, Pack: db.findPack, Beginning: db.findBeginning, Damaged: damaged}}
	db.bodies.Rows = segmentRows{db.st}
	return db, nil
}

// findPack returns a whole pack, whose sum was right.
func (db *DB) findPack(ctx context.Context, id segment.ID) (*segment.Pack, error) {
	if p := db.cache.Find(id); p != nil && p.Whole() {
		return p, nil
	}
	return db.readPack(ctx, id, math.MaxInt64)
}

// findBeginning reads the beginning of a pack at first, as far as it takes: most
// searches want one segment. The second time it reads all.
func (db *DB) findBeginning(ctx context.Context, id segment.ID) (*segment.Pack, error) {
	if p := db.cache.Find(id); p != nil {
		return p, nil
	}
	upTo := id.Number()
	if db.cache.Begun(id) {
		upTo = math.MaxInt64
	}
	return db.readPack(ctx, id, upTo)
}

func (db *DB) readPack(ctx context.Context, id segment.ID, upTo int64) (*segment.Pack, error) {
	p, err := segment.ReadPackTo(ctx, segmentRows{db.st}, db.codec, id, upTo)
	if err == nil {
		db.cache.Keep(p)
	}
	return p, err
}

// Check reports whether the open file is still the one at its path; ErrReplaced
// if it is not. It costs one stat. What was written since then is lost with the
// old file. To go on, close the database first and then open it again: two open
// databases of one path would share the files beside it.
func (db *DB) Check() error {
	file, err := os.Stat(db.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("check database: %w", err)
	}
	if err != nil || !os.SameFile(file, db.file) {
		return ErrReplaced
	}
	return nil
}

// Close ends all work on the database. It waits for a transaction that is
// running.
func (db *DB) Close() error {
	if db.closed.Swap(true) {
		return nil
	}
	var errs []error
	if db.w != nil {
		errs = append(errs, db.checkpointer.close(), db.w.lock(context.Background()))
		db.w.shrink()
	}
	db.st.close()
	errs = append(errs, db.pool.Close())
	if db.w != nil {
		// The last connection to go moves the log into the file.
		errs = append(errs, db.w.close(), db.removeLeftovers())
		db.w.unlock()
	}
	db.codec.Close()
	return errors.Join(errs...)
}

// filesBeside returns the write-ahead log and its index, which are there for as
// long as a connection is open.
func filesBeside(path string) map[string]fs.FileInfo {
	files := map[string]fs.FileInfo{}
	for _, name := range []string{path + "-wal", path + "-shm"} {
		if info, err := os.Stat(name); err == nil {
			files[name] = info
		}
	}
	return files
}

// removeLeftovers removes the log of a file that is no longer there. SQLite
// leaves it, and would take it for the log of the file that is there now
// (sqlite.org/howtocorrupt.html, section 1.4).
func (db *DB) removeLeftovers() error {
	if !errors.Is(db.Check(), ErrReplaced) {
		return nil
	}
	var errs []error
	for name, mine := range db.beside {
		if info, err := os.Stat(name); err == nil && os.SameFile(info, mine) {
			errs = append(errs, os.Remove(name))
		}
	}
	return errors.Join(errs...)
}
