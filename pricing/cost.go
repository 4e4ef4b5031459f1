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
	Times         int // number of exchanges in it, alike in what prices depend on; 0 means one
}

// Cost is what a use costs.
type Cost struct {
	USD        *big.Rat // nil: unknown
	LowerBound bool     // it may have been more
}

// String returns the exact decimal, "" if the cost is unknown.
func (c Cost) String() string {
	if c.USD == nil {
		return ""
	}
	return Dollars(c.USD)
}

// Part is the cost of tokens of one kind.
type Part struct {
	Kind   string // uncached input, cache read …
	Tokens int64
	Price  *big.Rat // of a million; nil: unknown
}

// USD returns what the part costs, nil if that is unknown.
func (p Part) USD() *big.Rat {
	if p.Price == nil {
		return nil
	}
	n := new(big.Rat).SetFrac64(p.Tokens, million)
	return n.Mul(n, p.Price)
}

// Parts splits a use into the kinds of tokens that have their own price, without
// kinds that it has no tokens of. A price is unknown if the table has none.
func (t *Table) Parts(u Use) []Part {
	if u.Usage == nil {
		return nil
	}
	p, _ := t.Price(u.URL, u.Model, u.ResponseModel)
	short, long, split := cacheWrites(u.Usage)
	written := "cache write"
	if split {
		written = "cache write, 5 minutes"
	}
	return slices.DeleteFunc([]Part{
		{"uncached input", u.Usage.InputUncached, p.Input},
		{"cache read", u.Usage.CacheRead, p.CacheRead},
		{written, short, p.CacheWrite},
		{"cache write, 1 hour", long, p.CacheWrite1h},
		{"output", billedOutput(u.Usage), p.Output},
	}, func(p Part) bool { return p.Tokens <= 0 })
}

// Cost prices a use. It is unknown if there is no usage, or no price for some of
// its tokens.
// its tokens.
func (t *Table) Cost(u Use) Cost {
	if u.Usage == nil {
		return Cost{}
	}
	p, ok := t.Price(u.URL, u.Model, u.ResponseModel)
	if !ok {
		return Cost{}
	}
	sum := new(big.Rat)
	for _, part := range t.Parts(u) {
		usd := part.USD()
		if usd == nil {
			return Cost{}
		}
		sum.Add(sum, usd)
	}
	short, _, split := cacheWrites(u.Usage)
	unsplit := !split && short > 0 && p.CacheWrite1h != nil
	return Cost{USD: sum, LowerBound: !u.Usage.Complete || unsplit}
}

// cacheWrites returns for how long tokens were put into the cache: split is false
// if that is unknown.
func cacheWrites(u *transcript.Usage) (short, long int64, split bool) {
	if u.CacheWrite1h == nil {
		return u.CacheWrite, 0, false
	}
	long = *u.CacheWrite1h
	return u.CacheWrite - long, long, true
}

// billedOutput adds reasoning where a provider leaves it out of the output, as its
// total shows (xAI, Gemini).
func billedOutput(u *transcript.Usage) int64 {
	if u.Reasoning > 0 && u.Total == u.InputTotal+u.Output+u.Reasoning {
		return u.Output + u.Reasoning
	}
	return u.Output
}

// Total sums the costs of many uses. The zero Total is ready to use.
type Total struct {
	LowerBound     bool  // part of it is unknown
	Unpriced       int   // uses that could not be priced
	UnpricedTokens int64 // as far as they were counted

	known  *big.Rat
	models map[string]bool // those that could not be priced
	hosts  map[string]bool // the hosts of these
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

// Join adds another total.
func (t *Total) Join(o *Total) {
	t.LowerBound = t.LowerBound || o.LowerBound
	t.Unpriced += o.Unpriced
	t.UnpricedTokens += o.UnpricedTokens
	if o.known != nil {
		if t.known == nil {
			t.known = new(big.Rat)
		}
		t.known.Add(t.known, o.known)
	}
	for _, of := range []struct{ to, from *map[string]bool }{{&t.models, &o.models}, {&t.hosts, &o.hosts}} {
		if *of.to == nil && *of.from != nil {
			*of.to = map[string]bool{}
		}
		maps.Copy(*of.to, *of.from)
	}
}

// USD returns the sum of what is known, nil if nothing is.
func (t *Total) USD() *big.Rat { return t.known }

// UnpricedHosts returns the hosts whose models could not be priced.
func (t *Total) UnpricedHosts() []string {
	return slices.Sorted(maps.Keys(t.hosts))
}

// Host returns the host that was called: prices are looked up by host and model.
func Host(target string) string {
	u, err := url.Parse(target)
	if err != nil {
		return ""
	}
	return u.Host
}

// UnpricedModels returns the models that could not be priced.
func (t *Total) UnpricedModels() []string {
	return slices.Sorted(maps.Keys(t.models))
}
