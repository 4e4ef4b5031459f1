package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"sync"
)

// direct runs statements of one connection past database/sql. A commit runs some
// twenty small ones, and what database/sql does around each, with what the driver
// does to bind values one by one, costs as much as the smallest of them.
type direct struct {
	conn *sql.Conn

	mu    sync.Mutex
	kept  map[string]driver.Stmt // by its text
	named []driver.NamedValue
	row   []driver.Value
}

func newDirect(conn *sql.Conn) *direct { return &direct{conn: conn, kept: map[string]driver.Stmt{}} }

var errNotDirect = errors.New("the driver cannot do that")

// run runs a statement and calls each for its rows, if it has any. Values of a row
// are valid until each returns.
func (d *direct) run(query string, args []any, each func(row []driver.Value) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.conn.Raw(func(conn any) error {
		stmt, err := d.get(conn, query)
		if err != nil {
			return fmt.Errorf("prepare statement: %w", err)
		}
		if err := d.bind(args); err != nil {
			return err
		}
		rows, err := stmt.QueryContext(context.Background(), d.named) // the driver has done the first step then
		clear(d.named)
		if err != nil || each == nil {
			return errors.Join(err, closed(rows))
		}
		return errors.Join(d.walk(rows, each), rows.Close())
	})
}

func closed(rows driver.Rows) error {
	if rows == nil {
		return nil
	}
	return rows.Close()
}

func (d *direct) get(conn any, query string) (driver.StmtQueryContext, error) {
	stmt := d.kept[query]
	if stmt == nil {
		c, ok := conn.(driver.Conn)
		if !ok {
			return nil, errNotDirect
		}
		var err error
		if stmt, err = c.Prepare(query); err != nil {
			return nil, err
		}
		d.kept[query] = stmt
	}
	s, ok := stmt.(driver.StmtQueryContext)
	if !ok {
		return nil, errNotDirect
	}
	return s, nil
}

func (d *direct) bind(args []any) error {
	d.named = d.named[:0]
	for i, a := range args {
		var v driver.Value
		switch a := a.(type) {
		case nil, int64, float64, bool, []byte, string:
			v = a
		case int:
			v = int64(a)
		default:
			var err error
			if v, err = driver.DefaultParameterConverter.ConvertValue(a); err != nil {
				return fmt.Errorf("bind value %d: %w", i+1, err)
			}
		}
		d.named = append(d.named, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	return nil
}

func (d *direct) walk(rows driver.Rows, each func([]driver.Value) error) error {
	n := len(rows.Columns())
	if cap(d.row) < n {
		d.row = make([]driver.Value, n)
	}
	row := d.row[:n]
	for {
		err := rows.Next(row)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = each(row)
		}
		if err != nil {
			return err
		}
	}
}

// numbers calls each for the first column of every row, which holds integers.
func (d *direct) numbers(query string, args []any, each func(int64)) error {
	return d.run(query, args, func(row []driver.Value) error {
		n, ok := row[0].(int64)
		if !ok {
			return fmt.Errorf("read number: it is %T", row[0])
		}
		each(n)
		return nil
	})
}

func (d *direct) close() (err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, stmt := range d.kept {
		err = errors.Join(err, stmt.Close())
	}
	clear(d.kept)
	return err
}
