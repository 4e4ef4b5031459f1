package retake

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// Reader reads what is recorded. A [DB] is a Reader; OpenReader opens one for a
// database that is only to be read.
type Reader struct {
	current func(context.Context) (*store.DB, error)
	prices  *pricing.Table
	end     func() error
}

// OpenReader opens a database to read it, also while others record into it. It
// needs no spool and leaves the file as it is. Of the Options it uses Prices.
func OpenReader(path string, o Options) (*Reader, error) {
	db, err := store.OpenReader(path)
	if err != nil {
		return nil, err
	}
	return &Reader{current: func(context.Context) (*store.DB, error) { return db, nil }, prices: o.Prices, end: db.Close}, nil
}

// Close closes the database.
func (r *Reader) Close() error { return r.end() }

// Runs lists the runs that a query such as "model:opus since:2h is:failed" selects,
// newest first. The query language is that of "inspect ls"; "" selects all. If the
// error wraps transcript.ErrDamaged, the runs that can be read are returned with it.
func (r *Reader) Runs(ctx context.Context, query string) ([]view.RunRow, error) {
	db, err := r.current(ctx)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	q, err := view.ParseListQuery(query, now)
	if err != nil {
		return nil, err
	}
	rows, lost := view.Runs(ctx, db, q.Runs(), now)
	return rows, errors.Join(lost, view.PriceRuns(ctx, db, rows, r.priceTable()))
}

// Run is one run: its agents with their steps, and its pairs of tool calls and
// results.
type Run struct {
	*view.Run
	db *store.DB
}

// Run reads the run that a reference means, such as "r12" or "last".
func (r *Reader) Run(ctx context.Context, ref string) (*Run, error) {
	db, err := r.current(ctx)
	if err != nil {
		return nil, err
	}
	run, err := view.ResolveRun(ctx, db, ref)
	if err != nil {
		return nil, err
	}
	v, err := view.NewRun(ctx, db, run, time.Now())
	if err != nil {
		return nil, err
	}
	v.Price(r.priceTable())
	return &Run{v, db}, nil
}

// Steps reads the steps of all agents, agent by agent: what each request introduced,
// what the model answered, and the results of its calls.
func (r *Run) Steps(ctx context.Context) iter.Seq2[*view.StepView, error] {
	var steps []*view.Step
	for _, a := range r.Agents {
		steps = append(steps, a.Steps...)
	}
	return view.NewStepReader(ctx, r.db, r.Run).All(steps)
}

// Exchange reads the exchange that a reference means, such as "x345", "r12.3" or
// "x:last": its request and answer as items, its pairs, usage and findings.
func (r *Reader) Exchange(ctx context.Context, ref string) (*view.Exchange, error) {
	db, err := r.current(ctx)
	if err != nil {
		return nil, err
	}
	e, err := view.Resolve(ctx, db, ref)
	if err != nil {
		return nil, err
	}
	v, err := view.NewExchange(ctx, db, e)
	if err != nil {
		return nil, err
	}
	v.Price(r.priceTable())
	return v, nil
}

// Read calls f with the database, for what Reader has no method for. The contract is
// in package transcript.
func (r *Reader) Read(ctx context.Context, f func(transcript.Reader) error) error {
	db, err := r.current(ctx)
	if err != nil {
		return err
	}
	return f(db)
}

// priceTable returns the prices to use.
func (r *Reader) priceTable() *pricing.Table {
	if r.prices == nil {
		return pricing.New()
	}
	return r.prices
}
