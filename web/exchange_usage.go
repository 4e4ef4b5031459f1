package web

import (
	"math/big"

	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// usagePart is what an exchange used, counted in the same way for every provider,
// and its cost.
type usagePart struct {
	view.Row
	Priced  []usageLine
	Total   string // "" if it is not known
	AtLeast bool
	Unknown string // the model without a known price
}

// usageLine is the tokens of one kind and their cost.
type usageLine struct {
	Kind   string
	Tokens int64
	Price  string // per million
	USD    string
}

func newUsagePart(r *view.Row, prices *pricing.Table) *usagePart {
	if r.Usage == nil {
		return nil
	}
	use := pricing.Use{URL: r.URL, Model: r.Model, ResponseModel: r.ResponseModel, Usage: r.Usage}
	p := &usagePart{Row: *r}
	for _, part := range prices.Parts(use) {
		p.Priced = append(p.Priced, usageLine{part.Kind, part.Tokens, dollarsOf(part.Price), dollarsOf(part.USD())})
	}
	cost := prices.Cost(use)
	p.Total, p.AtLeast = dollarsOf(cost.USD), cost.LowerBound
	if cost.USD == nil {
		p.Unknown = pricing.Host(r.URL)
	}
	return p
}

// dollarsOf writes an exact amount, "" if it is not known.
func dollarsOf(usd *big.Rat) string {
	if usd == nil {
		return ""
	}
	return "$" + pricing.Dollars(usd)
}

// outOf returns the number of output tokens.
func outOf(u *transcript.Usage) string {
	switch {
	case u.Complete:
		return count(u.Output) + " out"
	case u.Output == 0:
		return "output not known"
	}
	return "≥ " + count(u.Output) + " out"
}
