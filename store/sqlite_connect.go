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
	attach  string   // the file, if it is not what dsn names
	initial []string // pragmas for a file that is still empty
	pragmas []string
}

func newConnector(path string) (*connector, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	file := url.URL{Scheme: "file", Path: abs, RawQuery: "mode=rw"}
	return &connector{dsn: file.String()}, nil
}

// forWriting: automatic checkpoints are off because they stall the commit that runs them.
// SQLite waits for a lock only shortly, because it cannot be cancelled while it
// waits: begin asks again until the context ends.
func forWriting(path string) (*connector, error) {
	c, err := newConnector(path)
	if err != nil {
		return nil, err
	}
	c.initial = []string{fmt.Sprintf("page_size = %d", pageSize), "auto_vacuum = INCREMENTAL"}
	c.pragmas = []string{
		"busy_timeout = 100",
		"journal_mode = WAL",
		"synchronous = NORMAL",
		"wal_autocheckpoint = 0",
		"journal_size_limit = 67108864",
		"cache_size = -4096",
		"temp_store = MEMORY",
		"foreign_keys = OFF", // rows may come before what they point at
	}
	return c, nil
}

// forReading: readers meet a lock only when another connection opens or closes the file,
// so they wait for it. No memory mapping, because a file that is cut short under
// it would kill the process.
func forReading(path string) (*connector, error) {
	c, err := newConnector(path)
	if err != nil {
		return nil, err
	}
	c.pragmas = []string{"busy_timeout = 10000", "query_only = ON", "cache_size = -2048", "temp_store = MEMORY", "mmap_size = 0"}
	return c, nil
}

// forDamaged reads what is left of a file that SQLite refuses to open because
// it was cut: with writable_schema it looks no further than where the file ends.
// The driver's own first questions are asked of an empty database, since they
// would be refused; the tables are found in the one beside it.
func forDamaged(path string) (*connector, error) {
	c, err := forReading(path)
	if err != nil {
		return nil, err
	}
	c.pragmas = append(c.pragmas, "writable_schema = ON")
	c.attach, c.dsn = c.dsn, ":memory:"
	return c, nil
}

// Connect opens a connection.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	var opened driver.Conn
	err := retryBusy(ctx, func() error {
		conn, err := (&sqlite3.SQLiteDriver{}).Open(c.dsn)
		if err != nil {
			return err
		}
		if err := c.prepare(conn.(*sqlite3.SQLiteConn)); err != nil {
			conn.Close()
			return err
		}
		opened = conn
		return nil
	})
	return opened, err
}

func (c *connector) prepare(conn *sqlite3.SQLiteConn) error {
	if len(c.initial) > 0 {
		empty, err := isEmpty(conn)
		if err != nil {
			return err
		}
		if empty {
			if err := setPragmas(conn, c.initial); err != nil {
				return err
			}
		}
	}
	if err := setPragmas(conn, c.pragmas); err != nil || c.attach == "" {
		return err
	}
	if _, err := conn.Exec("ATTACH DATABASE ? AS damaged", []driver.Value{c.attach}); err != nil {
		return fmt.Errorf("attach: %w", err)
	}
	return nil
}

// isEmpty reports whether the file has no pages yet. Setting auto_vacuum later
// would change nothing and yet write to the file.
func isEmpty(conn *sqlite3.SQLiteConn) (bool, error) {
	rows, err := conn.Query("PRAGMA page_count", nil)
	if err != nil {
		return false, fmt.Errorf("count pages: %w", err)
	}
	defer rows.Close()
	value := make([]driver.Value, 1)
	if err := rows.Next(value); err != nil {
		return false, fmt.Errorf("count pages: %w", err)
	}
	return value[0] == int64(0), nil
}

func setPragmas(conn *sqlite3.SQLiteConn, pragmas []string) error {
	for _, p := range pragmas {
		if _, err := conn.Exec("PRAGMA "+p, nil); err != nil {
			return fmt.Errorf("set %s: %w", p, err)
		}
	}
	return nil
}

// Driver is there for database/sql.
func (c *connector) Driver() driver.Driver { return &sqlite3.SQLiteDriver{} }

func (c *connector) open() *sql.DB { return sql.OpenDB(c) }

// pageSize is small because a small file is mostly pages that are nearly empty: one
// for each table and index. What is large lies in rows of many pages.
const pageSize = 4 << 10

// retryBusy calls f again for as long as another connection holds a lock.
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
