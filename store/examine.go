package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Examination is what can be said of a database file without trusting it.
type Examination struct {
	Bytes      int64
	Log        int64       // bytes of the write-ahead log beside it
	Mode       fs.FileMode // of the file
	FolderMode fs.FileMode
	Version    int   // of its schema
	Newest     int   // schema that this program knows
	Opens      error // why it cannot be opened as usual: ErrNewerSchema, ErrOlderSchema, damage
	Readable   bool  // what is left of it can be read
	Exchanges  int64
	Lossy      int64 // exchanges of which something was lost when they were recorded
	Free       int64 // bytes in it that wait to be used again
	Problems   []string
}

// Examine looks at the database file at path, changing nothing. An error says
// that there is nothing to look at.
func Examine(ctx context.Context, path string) (*Examination, error) {
	x := &Examination{}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("examine database: %w", err)
	}
	x.Bytes, x.Mode = info.Size(), info.Mode().Perm()
	if folder, err := os.Stat(filepath.Dir(path)); err == nil {
		x.FolderMode = folder.Mode().Perm()
	}
	if log, err := os.Stat(path + "-wal"); err == nil {
		x.Log = log.Size()
	}
	all, err := allMigrations()
	if err != nil {
		return nil, err
	}
	x.Newest = len(all)
	x.Opens = withConn(ctx, path, forReading, func(conn *sql.Conn) error {
		var err error
		if x.Version, err = schemaVersion(ctx, conn); err == nil && x.Version > len(all) {
			err = ErrNewerSchema
		}
		return err
	})
	if x.Opens != nil && !isCorrupt(x.Opens) {
		return x, nil
	}
	connect := forReading
	if x.Opens != nil {
		connect = forDamaged
	}
	db, err := newDB(path, connect)
	if err != nil {
		x.Opens = errors.Join(x.Opens, err)
		return x, nil
	}
	defer db.Close()
	x.look(ctx, db)
	return x, ctx.Err()
}

// look asks for what may not be readable.
func (x *Examination) look(ctx context.Context, db *DB) {
	ask := func(query string, dest any) bool {
		err := db.st.row(ctx, query, nil, dest)
		if err != nil && x.Version > 0 {
			x.Problems = append(x.Problems, err.Error())
		}
		return err == nil
	}
	x.Readable = ask("SELECT count(*) FROM exchange", &x.Exchanges)
	ask("SELECT count(*) FROM exchange WHERE lossy", &x.Lossy)
	ask("SELECT f.freelist_count * s.page_size FROM pragma_freelist_count f, pragma_page_size s", &x.Free)
	v := &verification{db: db, ctx: ctx}
	if err := v.file(); err != nil && ctx.Err() == nil {
		x.Problems = append(x.Problems, err.Error())
	}
	for _, p := range v.problems {
		x.Problems = append(x.Problems, p.Text)
	}
}
