package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/retake-debugger/retake/store/segment"
	"github.com/retake-debugger/retake/transcript"
)

var errTxDone = errors.New("the transaction is over")

// tx is one transaction of the writer. It is valid until its function returns.
type tx struct {
	past
	w      *writer
	done   bool
	stored map[string]int64 // the numbers of the exchanges that it has stored
	latest string           // the last of them
}

var _ transcript.Tx = (*tx)(nil)

func (t *tx) open() error {
	if t.done {
		return errTxDone
	}
	return nil
}

// findPack returns the pack of a segment, of pending ones too.
func (t *tx) findPack(ctx context.Context, id segment.ID) (*segment.Pack, error) {
	if err := t.open(); err != nil {
		return nil, err
	}
	if p := t.w.bodies.Streams[id.Stream()].Pending(id); p != nil {
		return p, nil
	}
	if p := t.w.cache.Find(id); p != nil && p.Whole() {
		return p, nil
	}
	p, err := segment.ReadPack(ctx, segmentRows{t.st}, t.w.codec, id)
	if err == nil && p.Last() < t.w.begun[id.Stream()] { // what may be rolled back is not for others
		t.w.cache.Keep(p)
	}
	return p, err
}

// HasExchange reports whether the exchange is stored already.
func (t *tx) HasExchange(id string) (bool, error) {
	if err := t.open(); err != nil {
		return false, err
	}
	return t.exists("SELECT 1 FROM exchange WHERE id = ?", packID(id))
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
	row := exchangeRow{Exchange: e, model: model, request: request, response: response}
	values, err := row.pack(exchangeColumns)
	if err != nil {
		return err
	}
	if err := t.st.run(insertExchange, values...); err != nil {
		return fmt.Errorf("store exchange: %w", err)
	}
	if t.stored == nil {
		t.stored = map[string]int64{}
	}
	t.stored[e.ID], t.latest = e.N, e.ID
	t.w.last.put(e)
	for _, k := range t.w.lookup.ofExchange(e) {
		t.w.lookup.add(k.key, e.N)
	}
	return nil
}

type modelKey struct{ dialect, asked, answered string }

// model returns the id of the row of the exchange's dialect and models.
func (t *tx) model(e *transcript.Exchange) (int64, error) {
	key := modelKey{string(e.Dialect), e.Model, e.ResponseModel}
	if id, ok := t.w.models[key]; ok {
		return id, nil
	}
	var id int64
	names := []any{key.dialect, key.asked, key.answered}
	err := t.st.row(context.Background(), "SELECT id FROM model WHERE dialect = ? AND asked = ? AND answered = ?", names, &id)
	if errors.Is(err, sql.ErrNoRows) {
		err = t.st.row(context.Background(), "INSERT INTO model (dialect, asked, answered) VALUES (?, ?, ?) RETURNING id", names, &id)
	}
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
