package store

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

// exchangeColumns are the columns of exchange in the order of packExchange,
// chunks last because listings leave them out.
const exchangeColumns = `n, id, started, ended, upstream, method, url, status, outcome, lossy,
	error_type, error_code, error_message,
	request_headers, request_bytes, request_sha256, request_encoding, request_problem, request_body,
	response_headers, response_bytes, response_sha256, response_encoding, response_problem, response_body,
	first_byte, first_token, duration, events,
	model, stream, complete, response_id, finish_reason,
	input_total, input_uncached, cache_read, cache_write, cache_write_1h, output, reasoning, total, usage_complete,
	preview, calls, results, warnings,
	run, parent, link_by, evidence, shared, in_len, out_len, in_node, out_node, labelled, seen,
	tools, agent, step, attempt, side, request_omitted, response_omitted, loose_node, settings, change, as_of, imported, chunks`

var (
	insertExchange = "INSERT INTO exchange (" + exchangeColumns + ") VALUES (" +
		strings.Repeat("?, ", strings.Count(exchangeColumns, ",")) + "?)"
	selectExchange = selectColumns(exchangeColumns)
	selectListed   = selectColumns(strings.Replace(exchangeColumns, ", chunks", ", NULL", 1))
)

// selectColumns reads exchanges e together with their model row. A join would be
// several times slower: SQLite then reads each column of a row by itself.
func selectColumns(columns string) string {
	columns = strings.Replace(columns, "n, id,", "e.n, e.id,", 1)
	return "SELECT " + ofModel("dialect") + ofModel("asked") + ofModel("answered") + columns + " FROM exchange e "
}

func ofModel(column string) string {
	return "(SELECT " + column + " FROM model WHERE id = e.model), "
}

// packExchange gives the values of a row, but for those that need a look-up.
func packExchange(e *transcript.Exchange, model int64, request, response any) ([]any, error) {
	var warnings any
	if len(e.Warnings) > 0 {
		b, err := json.Marshal(e.Warnings)
		if err != nil {
			return nil, err
		}
		warnings = string(b)
	}
	var errType, errCode, errMessage any
	if e.Error != nil {
		errType, errCode, errMessage = e.Error.Type, e.Error.Code, e.Error.Message
	}
	row := make([]any, 0, 70)
	seen, err := packSeen(e.TransportEnding)
	if err != nil {
		return nil, err
	}
	row = append(row, e.N, packID(e.ID), packTime(e.StartedAt), packTime(e.EndedAt), e.Upstream, e.Method, e.URL,
		e.Status, string(e.Outcome), e.Lossy, errType, errCode, errMessage)
	row = packMessage(row, &e.Request, request)
	row = packMessage(row, &e.Response, response)
	row = append(row, int64(e.Timing.FirstByte), int64(e.Timing.FirstToken), int64(e.Timing.Duration), e.Timing.Events,
		model, e.Stream, e.Complete, packText(e.ResponseID), e.FinishReason)
	if u := e.Usage; u != nil {
		row = append(row, u.InputTotal, u.InputUncached, u.CacheRead, u.CacheWrite, u.CacheWrite1h, u.Output, u.Reasoning, u.Total, u.Complete)
	} else {
		row = append(row, nil, nil, nil, nil, nil, nil, nil, nil, nil)
	}
	l := &e.Link
	change, err := packChange(&l.Change)
	if err != nil {
		return nil, err
	}
	return append(row, e.Preview, e.Calls, e.Results, warnings, packID(l.Run), packID(l.Parent), l.By, l.Evidence,
		l.Shared, l.InLen, l.OutLen, packNode(l.InNode), packNode(l.OutNode), l.Labelled, seen,
		e.Tools, packID(l.Agent), l.Step, l.Attempt, l.Side, e.Request.Omitted, e.Response.Omitted,
		packNode(l.NodeWithoutIDs), packSettings(&l.Settings), change, l.AsOf, string(e.Imported), packChunks(e.Response.Chunks)), nil
}

func packSeen(seen *transcript.Ending) (any, error) {
	if seen == nil {
		return nil, nil
	}
	b, err := json.Marshal(seen)
	return string(b), err
}

func packMessage(row []any, m *transcript.Message, headers any) []any {
	return append(row, headers, m.Bytes, packHash(m.SHA256), m.ContentEncoding, m.DecodeError, int64(m.Body))
}

// idColumn reads an id.
type idColumn string

// Scan is there for database/sql.
func (c *idColumn) Scan(v any) error {
	*c = idColumn(unpackID(v))
	return nil
}

// hashColumn reads a SHA-256.
type hashColumn string

// Scan is there for database/sql.
func (c *hashColumn) Scan(v any) error {
	*c = hashColumn(unpackHash(v))
	return nil
}

// scanned reads one row after the other: it holds what a row needs before it is an
// exchange.
type scanned struct {
	row                    transcript.Exchange
	into                   []any
	id, run, parent, agent idColumn
	started, ended         *int64
	errType                *string
	errCode, errMessage    *string
	request, response      []byte
	reqHash, respHash      hashColumn
	model                  int64
	responseID, warnings   *string
	usage                  [7]*int64
	cacheHour              *int64
	usageComplete          *bool
	inNode, outNode        sql.RawBytes
	seen                   *string
	loose, settings        sql.RawBytes
	change                 *string
	chunks                 sql.RawBytes
}

// packedExchange is an exchange whose headers are still as they are stored.
type packedExchange struct {
	*transcript.Exchange
	request, response []byte
}

// scan reads a row.
func (s *scanned) scan(row *sql.Rows) (packedExchange, error) {
	if s.into == nil {
		s.into = s.dest()
	}
	if err := row.Scan(s.into...); err != nil {
		return packedExchange{}, err
	}
	e := s.row
	if err := s.finish(&e); err != nil {
		return packedExchange{}, fmt.Errorf("x%d: %w", e.N, err)
	}
	return packedExchange{&e, s.request, s.response}, nil
}

func (s *scanned) dest() []any {
	e := &s.row
	l, u := &e.Link, &s.usage
	return []any{&e.Dialect, &e.Model, &e.ResponseModel, &e.N, &s.id, &s.started, &s.ended, &e.Upstream, &e.Method, &e.URL,
		&e.Status, &e.Outcome, &e.Lossy, &s.errType, &s.errCode, &s.errMessage,
		&s.request, &e.Request.Bytes, &s.reqHash, &e.Request.ContentEncoding, &e.Request.DecodeError, &e.Request.Body,
		&s.response, &e.Response.Bytes, &s.respHash, &e.Response.ContentEncoding, &e.Response.DecodeError, &e.Response.Body,
		(*int64)(&e.Timing.FirstByte), (*int64)(&e.Timing.FirstToken), (*int64)(&e.Timing.Duration), &e.Timing.Events,
		&s.model, &e.Stream, &e.Complete, &s.responseID, &e.FinishReason,
		&u[0], &u[1], &u[2], &u[3], &s.cacheHour, &u[4], &u[5], &u[6], &s.usageComplete,
		&e.Preview, &e.Calls, &e.Results, &s.warnings,
		&s.run, &s.parent, &l.By, &l.Evidence, &l.Shared, &l.InLen, &l.OutLen, &s.inNode, &s.outNode, &l.Labelled, &s.seen,
		&e.Tools, &s.agent, &l.Step, &l.Attempt, &l.Side, &e.Request.Omitted, &e.Response.Omitted,
		&s.loose, &s.settings, &s.change, &l.AsOf, &e.Imported, &s.chunks}
}

// finish makes the exchange, all but its headers.
func (s *scanned) finish(e *transcript.Exchange) error {
	e.ID, e.Link.Run, e.Link.Parent, e.Link.Agent = string(s.id), string(s.run), string(s.parent), string(s.agent)
	e.StartedAt, e.EndedAt = unpackTime(s.started), unpackTime(s.ended)
	e.Request.SHA256, e.Response.SHA256 = string(s.reqHash), string(s.respHash)
	if s.errType != nil && s.errCode != nil && s.errMessage != nil {
		e.Error = &transcript.Error{Type: *s.errType, Code: *s.errCode, Message: *s.errMessage}
	}
	if s.responseID != nil {
		e.ResponseID = *s.responseID
	}
	if u := s.usage; u[0] != nil && u[1] != nil && u[2] != nil && u[3] != nil && u[4] != nil && u[5] != nil && u[6] != nil {
		e.Usage = &transcript.Usage{InputTotal: *u[0], InputUncached: *u[1], CacheRead: *u[2], CacheWrite: *u[3], CacheWrite1h: s.cacheHour,
			Output: *u[4], Reasoning: *u[5], Total: *u[6], Complete: s.usageComplete != nil && *s.usageComplete}
	}
	copy(e.Link.InNode[:], s.inNode)
	copy(e.Link.OutNode[:], s.outNode)
	copy(e.Link.NodeWithoutIDs[:], s.loose)
	unpackSettings(&e.Link.Settings, s.settings)
	if s.change != nil {
		if err := json.Unmarshal([]byte(*s.change), &e.Link.Change); err != nil {
			return fmt.Errorf("read change: %w", err)
		}
	}
	if s.warnings != nil {
		if err := json.Unmarshal([]byte(*s.warnings), &e.Warnings); err != nil {
			return fmt.Errorf("read warnings: %w", err)
		}
	}
	if s.seen != nil {
		if err := json.Unmarshal([]byte(*s.seen), &e.TransportEnding); err != nil {
			return fmt.Errorf("read ending: %w", err)
		}
	}
	var err error
	e.Response.Chunks, err = unpackChunks(s.chunks)
	return err
}

// exchanges runs a query that begins with selectExchange or selectListed.
func (r *reader) exchanges(ctx context.Context, query string, args ...any) ([]*transcript.Exchange, error) {
	var rows []packedExchange
	var s scanned
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

// one gives the only exchange of a query; ErrNotFound if there is none.
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

// Exchange gives the exchange with that id.
func (r *reader) Exchange(ctx context.Context, id string) (*transcript.Exchange, error) {
	return r.one(ctx, id, selectExchange+"WHERE e.id = ?", packID(id))
}

// ExchangeN gives the exchange with that number.
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

// FindExchanges gives the ids that begin with part or, if none does, that hold
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

// idsFrom gives the ids that begin with part.
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

// idsWith gives the ids that hold part. Only the index is read; where the dashes
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
