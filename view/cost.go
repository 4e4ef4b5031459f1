package view

import (
	"context"

	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/transcript"
)

// Price sets the cost of the exchange.
func (r *Row) Price(t *pricing.Table) {
	r.CostUSD = dollars(t.Cost(r.use()))
}

func (r *Row) use() pricing.Use {
	return pricing.Use{URL: r.URL, Model: r.Model, ResponseModel: r.ResponseModel, Usage: r.Usage}
}

func dollars(c pricing.Cost) *string {
	if c.USD == nil {
		return nil
	}
	s := c.String()
	return &s
}

// Price sets the costs of the steps and of the run without its replays.
func (r *Run) Price(t *pricing.Table) {
	costs := map[string]pricing.Cost{}
	var total pricing.Total
	for _, e := range r.inOrder() {
		c := t.Cost(useOf(e))
		costs[e.ID] = c
		if r.takes[e.ID] == nil && isPaid(e) {
			total.Add(useOf(e), c)
		}
	}
	for _, a := range r.Agents {
		price(a.Steps, costs)
		for _, b := range a.Branches {
			price(b.Steps, costs)
		}
	}
	r.setCost(&total)
}

func price(steps []*Step, costs map[string]pricing.Cost) {
	for _, s := range steps {
		s.CostUSD = dollars(costs[s.Exchange])
	}
}

func (r *RunRow) setCost(total *pricing.Total) {
	r.CostUSD, r.CostIsLowerBound, r.Unpriced = nil, total.LowerBound, Unpriced{total.Unpriced, total.UnpricedTokens, append([]string{}, total.UnpricedModels()...), append([]string{}, total.UnpricedHosts()...)}
	if usd := total.USD(); usd != nil {
		s := pricing.Dollars(usd)
		r.CostUSD = &s
	}
}

func useOf(e *transcript.Exchange) pricing.Use {
	return pricing.Use{URL: e.URL, Model: e.Model, ResponseModel: e.ResponseModel, Usage: e.Usage}
}

// isPaid reports whether an exchange is charged: not if it was refused or asks no
// model.
func isPaid(e *transcript.Exchange) bool {
	return e.Usage != nil || e.Dialect != transcript.Unknown && e.Model != "" && e.Status < 400 && e.Status > 0
}

// takenBy returns the exchanges that are replays.
func takenBy(ctx context.Context, r transcript.Reader) (map[string]bool, error) {
	takes, err := r.Takes(ctx, "")
	if err != nil && lost(err) == "" {
		return nil, err
	}
	taken := make(map[string]bool, len(takes))
	for i := range takes {
		for _, s := range takes[i].Steps {
			taken[s.Exchange] = true
		}
	}
	return taken, nil
}

// PriceRuns sets the costs of runs in a list.
func PriceRuns(ctx context.Context, r transcript.Reader, rows []RunRow, t *pricing.Table) error {
	ids := make([]int64, len(rows))
	for i := range rows {
		ids[i] = rows[i].N
	}
	totals := map[int64]*pricing.Total{}
	if err := addUses(ctx, r, ids, t, totals); lost(err) != "" {
		for _, id := range ids { // readable ones
			totals[id] = &pricing.Total{LowerBound: true}
			if err := addUses(ctx, r, []int64{id}, t, totals); err != nil && lost(err) == "" {
				return err
			}
		}
	} else if err != nil {
		return err
	}
	for i := range rows {
		rows[i].setCost(of(totals, rows[i].N, func() *pricing.Total { return &pricing.Total{} }))
	}
	return nil
}

func addUses(ctx context.Context, r transcript.Reader, runs []int64, t *pricing.Table, totals map[int64]*pricing.Total) error {
	uses, err := r.RunUses(ctx, runs)
	if err != nil {
		return err
	}
	for i := range uses {
		u := &uses[i]
		use := pricing.Use{URL: u.URL, Model: u.Model, ResponseModel: u.ResponseModel, Usage: u.Usage, Times: u.Exchanges}
		of(totals, u.Run, func() *pricing.Total { return &pricing.Total{} }).Add(use, t.Cost(use))
	}
	return nil
}

// InputCost returns a function for the cost of uncached input tokens at the model
// of an exchange; "" if unknown.
func InputCost(t *pricing.Table) func(*transcript.Exchange, int64) string {
	return func(e *transcript.Exchange, tokens int64) string {
		p, ok := t.Price(e.URL, e.Model, e.ResponseModel)
		if !ok || p.Input == nil {
			return ""
		}
		return "$" + pricing.Rounded(p.Of(tokens))
	}
}
