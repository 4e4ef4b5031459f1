package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/retake-debugger/retake/transcript"
)

var errTxDone = errors.New("the transaction is over")

// tx is one transaction of the writer. It is valid until its function returns.
type tx struct {
	reader
	w    *writer
	done bool
}

var _ transcript.Tx = (*tx)(nil)

func (t *tx) open() error {
	if t.done {
		return errTxDone
	}
	return nil
}

// findPack gives the pack of a segment, of pending ones too.
func (t *tx) findPack(ctx context.Context, id segmentID) (*pack, error) {
	if err := t.open(); err != nil {
		return nil, err
	}
	if p := t.w.lanes[id.lane()].pending(id); p != nil {
		return p, nil
	}
	if p := t.w.cache.find(id); p != nil {
		return p, nil
	}
	p, err := readPack(ctx, t.st, t.w.codec, id)
	if err == nil && p.last() < t.w.begun[id.lane()] { // what may be rolled back is not for others
		t.w.cache.keep(p)
	}
	return p, err
}

// HasExchange tells whether the exchange is stored already.
func (t *tx) HasExchange(id string) (bool, error) {
	return t.exists("SELECT 1 FROM exchange WHERE id = ?", packID(id))
}

// Extended tells whether some exchange continues the one with that id.
func (t *tx) Extended(id string) (bool, error) {
	return t.exists("SELECT 1 FROM exchange WHERE parent = ? LIMIT 1", packID(id))
}

func (t *tx) exists(query string, args ...any) (bool, error) {
	if err := t.open(); err != nil {
		return false, err
	}
	var one int
	err := t.st.row(context.Background(), query, args, &one)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for exchange: %w", err)
	}
	return true, nil
}

// PutExchange stores a new exchange and sets its N.
func (t *tx) PutExchange(e *transcript.Exchange) error {
	if err := t.open(); err != nil {
		return err
	}
	model, err := t.model(e)
	if err != nil {
		return err
	}
	request, err := t.headers.pack(t.st, e.Request.Headers)
	if err != nil {
		return err
	}
	response, err := t.headers.pack(t.st, e.Response.Headers)
	if err != nil {
		return err
	}
	e.N = t.w.state.next(&t.w.state.exchange)
	row, err := packExchange(e, model, request, response)
	if err != nil {
		return err
	}
	if _, err := t.st.exec(insertExchange, row...); err != nil {
		return fmt.Errorf("store exchange: %w", err)
	}
	t.index(e)
	return nil
}

// index makes the exchange findable by its nodes and its response id.
func (t *tx) index(e *transcript.Exchange) {
	l := t.w.lookup
	if n := e.Link.OutNode; !n.IsZero() {
		l.add(l.key(findOutNode, n[:]), e.N)
	}
	if n := e.Link.InNode; !n.IsZero() {
		l.add(l.key(findInNode, n[:]), e.N)
	}
	if e.ResponseID != "" {
		l.add(l.key(findResponseID, []byte(e.ResponseID)), e.N)
	}
}

type modelKey struct{ dialect, asked, answered string }

// model gives the id of the row that says which dialect and models these are.
func (t *tx) model(e *transcript.Exchange) (int64, error) {
	key := modelKey{string(e.Dialect), e.Model, e.ResponseModel}
	if id, ok := t.w.models[key]; ok {
		return id, nil
	}
	var id int64
	err := t.st.row(context.Background(), `INSERT INTO model (dialect, asked, answered) VALUES (?, ?, ?)
		ON CONFLICT DO UPDATE SET dialect = dialect RETURNING id`, []any{key.dialect, key.asked, key.answered}, &id)
	if err != nil {
		return 0, fmt.Errorf("store model: %w", err)
	}
	if len(t.w.models) >= maxModels {
		clear(t.w.models)
	}
	t.w.models[key] = id
	return id, nil
}

// maxModels bounds how many models the writer remembers.
const maxModels = 4096

// ByOutNode gives the exchanges whose history and output is that node, newest first.
func (t *tx) ByOutNode(n transcript.Node, limit int) ([]*transcript.Exchange, error) {
	if n.IsZero() {
		return nil, t.open()
	}
	return t.find(findOutNode, n[:], limit, func(e *transcript.Exchange) bool { return e.Link.OutNode == n })
}

// ByInNode gives the exchanges whose full input is that node, newest first.
func (t *tx) ByInNode(n transcript.Node, limit int) ([]*transcript.Exchange, error) {
	if n.IsZero() {
		return nil, t.open()
	}
	return t.find(findInNode, n[:], limit, func(e *transcript.Exchange) bool { return e.Link.InNode == n })
}

// ByResponseID gives the newest exchange with that response id.
func (t *tx) ByResponseID(id string) (*transcript.Exchange, error) {
	list, err := t.find(findResponseID, []byte(id), 1, func(e *transcript.Exchange) bool { return id != "" && e.ResponseID == id })
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("exchange with response id %s: %w", id, transcript.ErrNotFound)
	}
	return list[0], nil
}

// find gives the newest exchanges that a lookup leads to and that are what was
// looked for.
func (t *tx) find(kind byte, value []byte, limit int, is func(*transcript.Exchange) bool) ([]*transcript.Exchange, error) {
	if err := t.open(); err != nil || limit <= 0 {
		return nil, err
	}
	var list []*transcript.Exchange
	err := t.w.lookup.walk(t.w.lookup.key(kind, value), limit, func(n int64) (bool, error) {
		found, err := t.exchanges(context.Background(), selectListed+"WHERE e.n = ?", n)
		if err == nil && len(found) == 1 && is(found[0]) {
			list = append(list, found[0])
		}
		return len(list) == limit, err
	})
	return list, err
}
