package pricing

import (
	"maps"
	"math/big"
	"net/url"
	"slices"

	"github.com/retake-debugger/retake/transcript"
)

// Use is what is to be paid.
type Use struct {
	URL           string // that was called
	Model         string // asked for
	ResponseModel string // that answered
	Usage         *transcript.Usage
	Times         int // exchanges that it adds up, alike in what prices depend on; 0 is one
}

// Cost is what a use costs.
type Cost struct {
	USD        *big.Rat // nil: unknown
	LowerBound bool     // it may have been more
}

// String gives the exact decimal, "" if the cost is unknown.
func (c Cost) String() string {
	if c.USD == nil {
		return ""
	}
	return Dollars(c.USD)
}

// Cost prices a use. It is unknown if there is no usage, or no price for some of
// its tokens.
func (t *Table) Cost(u Use) Cost {
	if u.Usage == nil {
		return Cost{}
	}
	p, ok := t.Price(u.URL, u.Model, u.ResponseModel)
	if !ok {
		return Cost{}
	}
	short, long, split := cacheWrites(u.Usage)
	sum := new(big.Rat)
	for _, part := range [...]struct {
		tokens int64
		price  *big.Rat
	}{
		{u.Usage.InputUncached, p.Input},
		{u.Usage.CacheRead, p.CacheRead},
		{short, p.CacheWrite},
		{long, p.CacheWrite1h},
		{billedOutput(u.Usage), p.Output},
	} {
		if part.tokens <= 0 {
			continue
		}
		if part.price == nil {
			return Cost{}
		}
		n := new(big.Rat).SetFrac64(part.tokens, million)
		sum.Add(sum, n.Mul(n, part.price))
	}
	unsplit := !split && short > 0 && p.CacheWrite1h != nil
	return Cost{USD: sum, LowerBound: !u.Usage.Complete || unsplit}
}

// cacheWrites tells for how long tokens were put into the cache: split is false
// if that is not known.
func cacheWrites(u *transcript.Usage) (short, long int64, split bool) {
	if u.CacheWrite1h == nil {
		return u.CacheWrite, 0, false
	}
	long = *u.CacheWrite1h
	return u.CacheWrite - long, long, true
}

// billedOutput adds reasoning where a provider leaves it out of the output, which
// its total shows (xAI, Gemini).
func billedOutput(u *transcript.Usage) int64 {
	if u.Reasoning > 0 && u.Total == u.InputTotal+u.Output+u.Reasoning {
		return u.Output + u.Reasoning
	}
	return u.Output
}

// Total adds up what many uses cost. The zero Total is ready.
type Total struct {
	LowerBound     bool  // something is missing in it
	Unpriced       int   // uses that could not be priced
	UnpricedTokens int64 // as far as they were counted

	known  *big.Rat
	models map[string]bool // of what could not be priced
	hosts  map[string]bool // that it was asked of
}

// Add adds a use and its cost.
func (t *Total) Add(u Use, c Cost) {
	if c.USD == nil {
		t.LowerBound = true
		t.Unpriced += max(1, u.Times)
		if u.Usage != nil {
			t.UnpricedTokens += u.Usage.Total
		}
		if t.models == nil {
			t.models, t.hosts = map[string]bool{}, map[string]bool{}
		}
		t.models[u.Model], t.hosts[Host(u.URL)] = true, true
		return
	}
	if t.known == nil {
		t.known = new(big.Rat)
	}
	t.known.Add(t.known, c.USD)
	t.LowerBound = t.LowerBound || c.LowerBound
}

// USD gives the sum of what is known, nil if nothing is.
func (t *Total) USD() *big.Rat { return t.known }

// UnpricedHosts names the hosts whose models could not be priced.
func (t *Total) UnpricedHosts() []string {
	return slices.Sorted(maps.Keys(t.hosts))
}

// Host names who was called: prices are looked up by host and model.
func Host(target string) string {
	u, err := url.Parse(target)
	if err != nil {
		return ""
	}
	return u.Host
}

// UnpricedModels names the models that could not be priced.
func (t *Total) UnpricedModels() []string {
	return slices.Sorted(maps.Keys(t.models))
}
