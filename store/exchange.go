package store

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

// scanner reads one row after the other into row.
type scanner struct {
	row               transcript.Exchange
	into              []any
	request, response []byte // headers
	model             int64
	failure           [3]*string // the parts of Error
	usage             [7]*int64  // the parts of Usage
	cacheHour         *int64
	usageComplete     *bool
}

// packedExchange is an exchange whose headers are still as they are stored.
type packedExchange struct {
	*transcript.Exchange
	request, response []byte
}

// scan reads a row.
func (s *scanner) scan(row *sql.Rows) (packedExchange, error) {
	if s.into == nil {
		s.into = append(s.into, &s.row.Dialect, &s.row.Model, &s.row.ResponseModel)
		for _, c := range exchangeColumns {
			s.into = append(s.into, c.dest(s))
		}
	}
	if err := row.Scan(s.into...); err != nil {
		return packedExchange{}, fmt.Errorf("x%d: %w", s.row.N, err)
	}
	e := s.row
	if f := s.failure; f[0] != nil && f[1] != nil && f[2] != nil {
		e.Error = &transcript.Error{Type: *f[0], Code: *f[1], Message: *f[2]}
	}
	if u := s.usage; !slices.Contains(u[:], nil) {
		e.Usage = &transcript.Usage{InputTotal: *u[0], InputUncached: *u[1], CacheRead: *u[2], CacheWrite: *u[3], CacheWrite1h: s.cacheHour,
			Output: *u[4], Reasoning: *u[5], Total: *u[6], Complete: s.usageComplete != nil && *s.usageComplete}
	}
	return packedExchange{&e, s.request, s.response}, nil
}

// exchanges runs a query that begins with selectExchange or selectListed.
func (r *reader) exchanges(ctx context.Context, query string, args ...any) ([]*transcript.Exchange, error) {
	var rows []packedExchange
	var s scanner
	err := r.st.rows(ctx, query, args, func(row *sql.Rows) error {
		e, err := s.scan(row)
		rows = append(rows, e)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read exchanges: %w", damaged(err))
	}
	list := make([]*transcript.Exchange, 0, len(rows))
	for _, e := range rows {
		var err error
		if e.Request.Headers, err = r.headers.unpack(ctx, r.st, e.request); err == nil {
			e.Response.Headers, err = r.headers.unpack(ctx, r.st, e.response)
		}
		if err != nil {
			return nil, fmt.Errorf("read exchange x%d: %w", e.N, damaged(err))
		}
		list = append(list, e.Exchange)
	}
	return list, nil
}

// one returns the only exchange of a query; ErrNotFound if there is none.
func (r *reader) one(ctx context.Context, what any, query string, args ...any) (*transcript.Exchange, error) {
	list, err := r.exchanges(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("exchange %v: %w", what, transcript.ErrNotFound)
	}
	return list[0], nil
}

// Exchange returns the exchange with that id.
func (r *reader) Exchange(ctx context.Context, id string) (*transcript.Exchange, error) {
	return r.one(ctx, id, selectExchange+"WHERE e.id = ?", packID(id))
}

// ExchangeN returns the exchange with that number.
func (r *reader) ExchangeN(ctx context.Context, n int64) (*transcript.Exchange, error) {
	return r.one(ctx, fmt.Sprintf("x%d", n), selectExchange+"WHERE e.n = ?", n)
}

// Children lists the exchanges that continue the one with that id, oldest
// first, without their chunks.
func (r *reader) Children(ctx context.Context, id string) ([]*transcript.Exchange, error) {
	if id == "" {
		return nil, nil
	}
	return r.exchanges(ctx, selectListed+"WHERE e.parent = ? ORDER BY e.n", packID(id))
}

// FindExchanges returns the ids that begin with part or, if none does, that hold
// it, newest first.
func (r *reader) FindExchanges(ctx context.Context, part string, limit int) ([]string, error) {
	if limit <= 0 {
		return nil, nil
	}
	part = strings.ToLower(part)
	ids, err := r.idsFrom(ctx, part, limit)
	if err == nil && len(ids) == 0 {
		ids, err = r.idsWith(ctx, part, limit)
	}
	if err != nil && !errors.Is(err, errEnough) {
		return nil, fmt.Errorf("find exchanges: %w", err)
	}
	return ids, nil
}

// idsFrom returns the ids that begin with part.
func (r *reader) idsFrom(ctx context.Context, part string, limit int) ([]string, error) {
	digits := strings.ReplaceAll(part, "-", "")
	if digits == "" || len(digits) > 32 {
		return nil, nil
	}
	low, errLow := hex.DecodeString(digits + strings.Repeat("0", 32-len(digits)))
	high, errHigh := hex.DecodeString(digits + strings.Repeat("f", 32-len(digits)))
	if errLow != nil || errHigh != nil {
		return nil, nil
	}
	return r.ids(ctx, part, limit, strings.HasPrefix, "SELECT id FROM exchange WHERE id BETWEEN ? AND ? ORDER BY id DESC", low, high)
}

// idsWith returns the ids that hold part. Only the index is read; where the dashes
// are is seen in ids.
func (r *reader) idsWith(ctx context.Context, part string, limit int) ([]string, error) {
	const query = `SELECT id FROM exchange INDEXED BY exchange_id
		WHERE CASE typeof(id) WHEN 'blob' THEN instr(hex(id), ?) ELSE instr(lower(id), ?) END ORDER BY n DESC`
	return r.ids(ctx, part, limit, strings.Contains, query, strings.ToUpper(strings.ReplaceAll(part, "-", "")), part)
}

func (r *reader) ids(ctx context.Context, part string, limit int, fits func(id, part string) bool, query string, args ...any) ([]string, error) {
	var ids []string
	err := r.st.rows(ctx, query, args, func(row *sql.Rows) error {
		var v any
		if err := row.Scan(&v); err != nil {
			return err
		}
		if id := unpackID(v); fits(strings.ToLower(id), part) {
			ids = append(ids, id)
		}
		if len(ids) >= limit {
			return errEnough
		}
		return nil
	})
	return ids, err
}

// errEnough ends a walk over rows early.
var errEnough = errors.New("enough")
