package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	"github.com/mattn/go-sqlite3"
)

// connector opens connections to one file, without a driver registered by name.
type connector struct {
	dsn     string
	pragmas []string
}

func newConnector(path string, pragmas ...string) (*connector, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	file := url.URL{Scheme: "file", Path: abs, RawQuery: "mode=rw"}
	return &connector{dsn: file.String(), pragmas: pragmas}, nil
}

// writerPragmas: the first two only count in a file that is still empty.
// Automatic checkpoints are off because they stall whoever commits. SQLite waits
// for a lock only shortly, because it cannot be cancelled while it waits: begin
// asks again until the context ends.
func writerPragmas() []string {
	return []string{
		"busy_timeout = 100",
		"page_size = 16384",
		"auto_vacuum = INCREMENTAL",
		"journal_mode = WAL",
		"synchronous = NORMAL",
		"wal_autocheckpoint = 0",
		"journal_size_limit = 67108864",
		"cache_size = -32768",
		"temp_store = MEMORY",
		"foreign_keys = OFF", // rows may come before what they point at
	}
}

// readerPragmas: readers are only ever in the way of somebody who opens or
// closes the file, so they wait. No memory mapping, because a file that is cut short under it
// would kill the process.
func readerPragmas() []string {
	return []string{"busy_timeout = 10000", "query_only = ON", "cache_size = -8192", "temp_store = MEMORY", "mmap_size = 0"}
}

// Connect opens a connection.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	var opened driver.Conn
	err := retryBusy(ctx, func() error {
		conn, err := (&sqlite3.SQLiteDriver{}).Open(c.dsn)
		if err != nil {
			return err
		}
		for _, p := range c.pragmas {
			if _, err := conn.(*sqlite3.SQLiteConn).Exec("PRAGMA "+p, nil); err != nil {
				conn.Close()
				return fmt.Errorf("set %s: %w", p, err)
			}
		}
		opened = conn
		return nil
	})
	return opened, err
}

// Driver is there for database/sql.
func (c *connector) Driver() driver.Driver { return &sqlite3.SQLiteDriver{} }

func (c *connector) open() *sql.DB { return sql.OpenDB(c) }

// retryBusy calls f again for as long as somebody else holds a lock.
func retryBusy(ctx context.Context, f func() error) error {
	for {
		err := f()
		if !isBusy(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the database: %w", ctx.Err())
		case <-time.After(time.Millisecond):
		}
	}
}

func isBusy(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && (e.Code == sqlite3.ErrBusy || e.Code == sqlite3.ErrLocked || e.Code == sqlite3.ErrProtocol)
}
