package store

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
)

// statements keeps what was prepared, by its text.
type statements struct {
	prepare func(context.Context, string) (*sql.Stmt, error)
	direct  *direct // of the writer
	mu      sync.Mutex
	kept    map[string]*sql.Stmt
}

func newStatements(prepare func(context.Context, string) (*sql.Stmt, error)) *statements {
	return &statements{prepare: prepare, kept: map[string]*sql.Stmt{}}
}

func (s *statements) get(ctx context.Context, query string) (*sql.Stmt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stmt := s.kept[query]; stmt != nil {
		return stmt, nil
	}
	stmt, err := s.prepare(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("prepare statement: %w", err)
	}
	s.kept[query] = stmt
	return stmt, nil
}

func (s *statements) exec(query string, args ...any) (sql.Result, error) {
	// Without a context: a write that is interrupted in its middle would end
	// the whole transaction.
	ctx := context.Background()
	stmt, err := s.get(ctx, query)
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(ctx, args...)
}

// run is exec for the writer's own statements, whose result is not needed.
func (s *statements) run(query string, args ...any) error { return s.direct.run(query, args, nil) }

// numbers calls each for the first column of every row, which holds integers.
func (s *statements) numbers(query string, args []any, each func(int64)) error {
	if s.direct != nil {
		return s.direct.numbers(query, args, each)
	}
	return s.rows(context.Background(), query, args, func(row *sql.Rows) error {
		var n int64
		err := row.Scan(&n)
		each(n)
		return err
	})
}

// row reads the only row of a query into dest; sql.ErrNoRows if there is none.
func (s *statements) row(ctx context.Context, query string, args []any, dest ...any) error {
	stmt, err := s.get(ctx, query)
	if err != nil {
		return err
	}
	return stmt.QueryRowContext(ctx, args...).Scan(dest...)
}

// rows calls each for every row of a query. The rows are read before anything
// else is asked of the connection, so each must not query.
func (s *statements) rows(ctx context.Context, query string, args []any, each func(*sql.Rows) error) error {
	stmt, err := s.get(ctx, query)
	if err != nil {
		return err
	}
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (s *statements) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stmt := range s.kept {
		stmt.Close()
	}
	clear(s.kept)
	if s.direct != nil {
		_ = s.direct.close() // the connection is closed next
	}
}
