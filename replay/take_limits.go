package replay

import (
	"errors"
	"math/big"
	"time"

	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/transcript"
)

// Limits end a take. Zero is no limit. Steps, tokens and cost are looked at before
// each further request, so that the last one may go beyond them.
type Limits struct {
	Steps  int
	Tokens int64    // prompt and answer, of all requests together
	Cost   *big.Rat // USD; a request whose price is not known ends the take
	Time   time.Duration
}

// errTimeout is why a take was cancelled that took too long.
var errTimeout = errors.New("the take took too long")

// reached returns the limit that a take has reached, "" if none.
func (l *Limits) reached(steps int, s *spent) transcript.StopReason {
	switch {
	case l.Steps > 0 && steps >= l.Steps:
		return transcript.StopSteps
	case l.Tokens > 0 && s.usage.InputTotal+s.usage.Output >= l.Tokens:
		return transcript.StopTokens
	case l.Cost != nil && (s.unpriced > 0 || s.usd.Cmp(l.Cost) >= 0):
		return transcript.StopCost
	}
	return ""
}

// spent adds up what requests used.
type spent struct {
	usage    transcript.Usage
	counted  int // requests that told their usage
	usd      big.Rat
	priced   int
	unpriced int
	lower    bool
}

func (s *spent) add(r *Request, t *transcript.Turn, prices *pricing.Table) {
	use := pricing.Use{URL: r.URL, Model: t.Model, ResponseModel: t.ResponseModel, Usage: t.Usage}
	if t.Usage == nil {
		if t.Error == nil {
			s.unpriced++
		}
		return
	}
	s.usage = AddUsage(s.usage, t.Usage, s.counted == 0)
	s.counted++
	if prices == nil {
		s.unpriced++
		return
	}
	cost := prices.Cost(use)
	if cost.USD == nil {
		s.unpriced++
		return
	}
	s.priced++
	s.usd.Add(&s.usd, cost.USD)
	s.lower = s.lower || cost.LowerBound
}

// cost is the sum in USD, nil if none of it is known. It is a lower bound where the
// price of some request is not.
func (s *spent) cost() (usd *string, lowerBound bool) {
	if s.priced == 0 {
		return nil, s.unpriced > 0
	}
	d := pricing.Dollars(&s.usd)
	return &d, s.lower || s.unpriced > 0
}

// total is the usage of all requests, nil if none reported it.
func (s *spent) total() *transcript.Usage {
	if s.counted == 0 {
		return nil
	}
	u := s.usage
	return &u
}

// AddUsage adds b to a; first says that nothing was added before.
func AddUsage(a transcript.Usage, b *transcript.Usage, first bool) transcript.Usage {
	sum := transcript.Usage{
		InputTotal: a.InputTotal + b.InputTotal, InputUncached: a.InputUncached + b.InputUncached, CacheRead: a.CacheRead + b.CacheRead, CacheWrite: a.CacheWrite + b.CacheWrite,
		Output: a.Output + b.Output, Reasoning: a.Reasoning + b.Reasoning, Total: a.Total + b.Total, Complete: b.Complete && (first || a.Complete),
	}
	if b.CacheWrite1h != nil && (first || a.CacheWrite1h != nil) {
		long := *b.CacheWrite1h
		if a.CacheWrite1h != nil {
			long += *a.CacheWrite1h
		}
		sum.CacheWrite1h = &long
	}
	return sum
}
