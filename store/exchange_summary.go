package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/retake-debugger/retake/transcript"
)

const selectOutlines = "SELECT e.n, id, started, method, url, status, outcome, error_type, error_code, error_message, " +
	"response_headers, response_bytes, response_encoding, response_omitted, response_body, run, EXISTS (SELECT 1 FROM take_step t WHERE t.exchange = e.id), " +
	"(SELECT dialect FROM model WHERE id = e.model), (SELECT asked FROM model WHERE id = e.model), (SELECT answered FROM model WHERE id = e.model) " +
	"FROM exchange e WHERE e.n IN (SELECT value FROM json_each(?))"

// Summaries reads a few columns of exchanges: a whole row costs several times as
// much, and most of what a search looks at does not match.
func (r *reader) Summaries(ctx context.Context, numbers []int64) ([]*transcript.Exchange, error) {
	list, err := r.outlines(ctx, numbers)
	if err == nil || !errors.Is(err, transcript.ErrDamaged) {
		return list, err
	}
	for i := range numbers {
		one, err := r.outlines(ctx, numbers[i:i+1])
		if err != nil && !errors.Is(err, transcript.ErrDamaged) {
			return nil, err
		}
		list = append(list, one...)
	}
	return list, nil
}

func (r *reader) outlines(ctx context.Context, numbers []int64) ([]*transcript.Exchange, error) {
	text, err := json.Marshal(numbers)
	if err != nil {
		return nil, err
	}
	var list []*transcript.Exchange
	var headers [][]byte
	err = r.st.rows(ctx, selectOutlines, []any{string(text)}, func(row *sql.Rows) error {
		e := &transcript.Exchange{}
		var id, run any
		var started *int64
		var errType, errCode, errMessage *string
		var packed []byte
		err := row.Scan(&e.N, &id, &started, &e.Method, &e.URL, &e.Status, &e.Outcome, &errType, &errCode, &errMessage,
			&packed, &e.Response.Bytes, &e.Response.ContentEncoding, &e.Response.Omitted, &e.Response.Body, &run, &e.Link.Replay,
			&e.Dialect, &e.Model, &e.ResponseModel)
		e.ID, e.StartedAt, e.Link.Run = unpackID(id), unpackTime(started), unpackID(run)
		if errType != nil && errCode != nil && errMessage != nil {
			e.Error = &transcript.Error{Type: *errType, Code: *errCode, Message: *errMessage}
		}
		list, headers = append(list, e), append(headers, packed)
		return err
	})
	for i := range list {
		if err == nil {
			list[i].Response.Headers, err = r.headers.unpack(ctx, r.st, headers[i])
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read outlines: %w", damaged(err))
	}
	return list, nil
}
