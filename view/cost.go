package view

import (
	"context"

	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/transcript"
)

// Price fills in what the exchange costs.
func (r *Row) Price(t *pricing.Table) {
	r.CostUSD = dollars(t.Cost(r.use()))
}

func (r *Row) use() pricing.Use {
	return pricing.Use{URL: r.URL, Model: r.Model, ResponseModel: r.ResponseModel, Usage: r.Usage}
}

// Price fills in what the exchange costs, by all that its provider says of it.
func (v *Exchange) Price(t *pricing.Table) {
	u := v.use()
	u.Raw = v.UsageRaw
	v.CostUSD = dollars(t.Cost(u))
}

func dollars(c pricing.Cost) *string {
	if c.USD == nil {
		return nil
	}
	s := c.String()
	return &s
}

// Price fills in what the steps of a run cost, and all of it but its replays.
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
	r.CostUSD, r.CostIsLowerBound, r.Unpriced = nil, total.LowerBound, Unpriced{total.Unpriced, total.UnpricedTokens, append([]string{}, total.UnpricedModels()...)}
	if usd := total.USD(); usd != nil {
		s := pricing.Dollars(usd)
		r.CostUSD = &s
	}
}

func useOf(e *transcript.Exchange) pricing.Use {
	return pricing.Use{URL: e.URL, Model: e.Model, ResponseModel: e.ResponseModel, Usage: e.Usage}
}

// isPaid tells whether somebody is charged for an exchange: not for one that was
// refused, nor for one that asks no model.
func isPaid(e *transcript.Exchange) bool {
	return e.Usage != nil || e.Dialect != transcript.Unknown && e.Model != "" && e.Status < 400 && e.Status > 0
}

// takenBy gives the exchanges that are replays.
func takenBy(ctx context.Context, r transcript.Reader) (map[string]bool, error) {
	takes, err := r.Takes(ctx, "")
	if err != nil && lost(err) == "" {
		return nil, err
	}
	taken := make(map[string]bool, len(takes))
	for i := range takes {
		taken[takes[i].Exchange] = true
	}
	return taken, nil
}

// PriceRuns fills in what runs in a list cost. It reads their exchanges.
func PriceRuns(ctx context.Context, r transcript.Reader, rows []RunRow, t *pricing.Table) error {
	taken, err := takenBy(ctx, r)
	if err != nil {
		return err
	}
	for i := range rows {
		var total pricing.Total
		for e, err := range r.Exchanges(ctx, transcript.Filter{Run: rows[i].ID}) {
			switch {
			case lost(err) != "":
				total.LowerBound = true
			case err != nil:
				return err
			case !taken[e.ID] && isPaid(e):
				total.Add(useOf(e), t.Cost(useOf(e)))
			}
		}
		rows[i].setCost(&total)
	}
	return nil
}

// InputCost gives a function that tells what input tokens cost at the model of
// an exchange, without a cache; "" where that is not known.
func InputCost(t *pricing.Table) func(*transcript.Exchange, int64) string {
	return func(e *transcript.Exchange, tokens int64) string {
		p, ok := t.Price(e.URL, e.Model, e.ResponseModel)
		if !ok || p.Input == nil {
			return ""
		}
		return "$" + pricing.Rounded(p.Of(tokens))
	}
}
