package view

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/retake-debugger/retake/analysis"
	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/transcript"
)

// Cache shows, step by step, how much of a prompt was in the provider's cache, and
// where a cached prefix broke.
type Cache struct {
	Run        string      `json:"run"`
	Steps      []CacheStep `json:"steps"`
	Prompt     int64       `json:"prompt_tokens"`
	Cached     int64       `json:"cached_tokens"`
	PaidAgain  int64       `json:"paid_again_tokens"`
	USD        *string     `json:"paid_again_usd"`
	LowerBound bool        `json:"paid_again_is_lower_bound"` // some prices or counts are unknown
	// Sampled reports that the run is large, so only those requests were read in full
	// that the links or the reported tokens make suspicious.
	Sampled bool `json:"sampled"`
}

// CacheStep is one step. The counts are nil where the provider reports none.
type CacheStep struct {
	Step      string      `json:"step"`
	Exchange  string      `json:"exchange"`
	Prompt    *int64      `json:"prompt_tokens"`
	Cached    *int64      `json:"cached_tokens"`
	Written   *int64      `json:"written_tokens"`
	Broke     *CacheBreak `json:"broke"`
	PaidAgain int64       `json:"paid_again_tokens"` // tokens of the prompt before that were not read from the cache
	USD       *string     `json:"paid_again_usd"`    // their extra cost over cached tokens; nil if unknown
}

// CacheBreak is the first difference from the prompt before.
type CacheBreak struct {
	// Where is "model", "tools", "system", "history" or "parameters". It is
	// "provider" if the request only extends the one before and the cache was lost
	// anyway.
	Where string `json:"where"`
	Item  string `json:"item"` // what it is, e.g. "tool read_file"
	At    string `json:"at"`   // JSON pointer in the request, "" if the item is gone
	Line  int    `json:"line"` // of the text, from 1; 0 if it is no text
	Was   string `json:"was"`
	Now   string `json:"now"`
}

const (
	fewestLost  = 1000      // tokens: providers cache nothing shorter, and only in blocks
	readAllUpTo = 128 << 20 // bytes of a run's requests up to which all are read in full
)

// Cache looks for broken prefixes in the lines of the run's agents.
func (r *Run) Cache(ctx context.Context, reader transcript.Reader, prices *pricing.Table) (*Cache, error) {
	l := r.newCacheLook(ctx, reader, prices)
	for _, a := range r.Agents {
		l.begin()
		for _, s := range a.Steps {
			if err := l.add(s); err != nil {
				return nil, err
			}
		}
	}
	return l.done(), nil
}

func (r *Run) newCacheLook(ctx context.Context, reader transcript.Reader, prices *pricing.Table) *cacheLook {
	requests := history.NewReader(ctx, reader)
	l := &cacheLook{ctx: ctx, Reader: requests, prices: prices, report: &Cache{Run: r.Ref(), Steps: []CacheStep{}}}
	var whole int64
	for _, e := range r.exchanges {
		if !history.MayBeInSegments(e) {
			whole += e.Request.Bytes
		}
	}
	l.report.Sampled = whole > readAllUpTo
	return l
}

// cacheLook reads the steps of one agent after the other.
type cacheLook struct {
	ctx context.Context
	*history.Reader
	prices *pricing.Table
	report *Cache
	total  pricing.Total
	before *transcript.Exchange // the last exchange that succeeded
}

// begin starts an agent.
func (l *cacheLook) begin() { l.before = nil }

func (l *cacheLook) add(s *Step) error {
	step, err := l.step(s, l.before)
	if err != nil {
		return err
	}
	l.report.add(step, &l.total)
	if s.exchange.Outcome == transcript.OK {
		l.before = s.exchange
	}
	return nil
}

// done returns the result; nil for a nil cacheLook.
func (l *cacheLook) done() *Cache {
	if l == nil {
		return nil
	}
	l.report.LowerBound = l.total.LowerBound
	if usd := l.total.USD(); usd != nil {
		text := pricing.Dollars(usd)
		l.report.USD = &text
	}
	return l.report
}

func (c *Cache) add(s CacheStep, total *pricing.Total) {
	c.Steps = append(c.Steps, s)
	if s.Prompt != nil {
		c.Prompt += *s.Prompt
		c.Cached += *s.Cached
	}
	if s.Broke == nil {
		return
	}
	c.PaidAgain += s.PaidAgain
	cost := pricing.Cost{}
	if s.USD != nil {
		cost.USD, _ = new(big.Rat).SetString(*s.USD)
	}
	total.Add(pricing.Use{}, cost)
}

func (l *cacheLook) step(s *Step, before *transcript.Exchange) (CacheStep, error) {
	e := s.exchange
	v := CacheStep{Step: s.Ref, Exchange: e.ID}
	if u := e.Usage; u != nil && u.InputTotal > 0 {
		v.Prompt, v.Cached, v.Written = &u.InputTotal, &u.CacheRead, &u.CacheWrite
	}
	if before == nil || held(&e.Link) || e.Outcome != transcript.OK {
		return v, nil
	}
	lost := lostTokens(before.Usage, e.Usage)
	if !l.report.Sampled || lost > 0 || !resendsAll(before, e) || e.Link.Change.Tools {
		broke, err := l.broke(before, e)
		if err != nil {
			return v, err
		}
		v.Broke = broke
	}
	if v.Broke == nil && lost > 0 && before.Usage.CacheRead+before.Usage.CacheWrite+e.Usage.CacheRead > 0 {
		v.Broke = &CacheBreak{Where: "provider", Item: "the request only goes on"}
		if gap := transcript.Between(before.EndedAt, e.StartedAt); gap != nil {
			v.Broke.Item += "; " + gap.Round(time.Second).String() + " after the one before"
		}
	}
	if v.Broke != nil {
		v.PaidAgain = lost
		v.USD = l.paid(e, lost)
	}
	return v, nil
}

// lostTokens returns how much of the prompt before was not read from the cache; 0
// if that is too little to matter or was not reported.
func lostTokens(before, now *transcript.Usage) int64 {
	if before == nil || now == nil {
		return 0
	}
	lost := min(before.InputTotal, now.InputTotal) - now.CacheRead
	if lost < fewestLost || lost*10 < before.InputTotal {
		return 0
	}
	return lost
}

// paid returns the extra cost of tokens that were not read from the cache.
func (l *cacheLook) paid(e *transcript.Exchange, tokens int64) *string {
	p, ok := l.prices.Price(e.URL, e.Model, e.ResponseModel)
	if !ok || p.Input == nil || p.CacheRead == nil || e.Usage == nil {
		return nil
	}
	more := new(big.Rat).Sub(p.Input, p.CacheRead)
	text := pricing.Dollars(more.Mul(more, big.NewRat(tokens, 1_000_000)))
	return &text
}

// broke finds the first difference from the prompt before; nil if that prompt is a
// prefix of this one.
func (l *cacheLook) broke(before, e *transcript.Exchange) (*CacheBreak, error) {
	if before.Model == e.Model && resendsAll(before, e) && before.Link.OutLen > before.Link.InLen && l.OnlyGoesOn(before, e) {
		return nil, l.ctx.Err()
	}
	was, err := l.Request(before)
	if err != nil {
		return nil, ignoreLost(err)
	}
	now, err := l.Request(e)
	if err != nil {
		return nil, ignoreLost(err)
	}
	if before.Model != e.Model {
		return &CacheBreak{Where: "model", Item: "model", At: "/model", Was: before.Model, Now: e.Model}, nil
	}
	a, b := l.apart(was, now)
	for i := range a {
		if i < len(b) && l.same(was, now, &a[i], &b[i]) {
			continue
		}
		l.unabridge(was, a, i)
		l.unabridge(now, b, i)
		return breakAt(a, b, i), nil
	}
	if n := len(a); n < len(b) && b[n].rank < 2 { // additional tools or system texts, before the history
		l.unabridge(now, b, n)
		return breakAt(a, b, n), nil
	}
	for _, name := range dialect.Of(e.Dialect).CachedParameters {
		x, y := was.Parameters[name], now.Parameters[name]
		if !bytes.Equal(x, y) && transcript.HashJSON(x) != transcript.HashJSON(y) {
			return &CacheBreak{Where: "parameters", Item: name, At: "/" + name, Was: string(x), Now: string(y)}, nil
		}
	}
	return nil, nil
}

func breakAt(a, b []promptPart, i int) *CacheBreak {
	var was, now *transcript.Item
	rank := 3
	if i < len(a) {
		was, rank = a[i].Item, a[i].rank
	}
	if i < len(b) && b[i].rank <= rank {
		if now = b[i].Item; b[i].rank < rank {
			was, rank = nil, b[i].rank
		}
	}
	c := &CacheBreak{Where: [...]string{"tools", "system", "history"}[rank]}
	if now == nil {
		c.Item, c.Was = promptItem(was), promptText(was)
		return c
	}
	c.Item, c.At = promptItem(now), now.At
	switch {
	case was == nil:
		c.Now = promptText(now)
	case was.Kind != now.Kind || was.Name != now.Name && was.Kind != transcript.ToolResult:
		c.Item += " in place of " + promptItem(was)
		c.Was, c.Now = promptText(was), promptText(now)
	case now.Kind == transcript.ToolDefinition || now.Kind == transcript.ToolCall:
		c.differing(was, now)
	default:
		c.line(was.Text, now.Text)
	}
	return c
}

// differing sets the first value in which two definitions or calls differ.
func (c *CacheBreak) differing(was, now *transcript.Item) {
	x, y := was.Raw, now.Raw
	if now.Kind == transcript.ToolCall {
		x, y = argumentsOf(was), argumentsOf(now)
	}
	list, ok := analysis.DiffJSON(x, y)
	if !ok || len(list) == 0 {
		c.Was, c.Now = string(x), string(y)
		return
	}
	c.Item += " " + list[0].At
	c.Was, c.Now = string(list[0].Was), string(list[0].Now)
}

// line sets the first line in which two texts differ.
func (c *CacheBreak) line(was, now string) {
	a, b := strings.Split(was, "\n"), strings.Split(now, "\n")
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	c.Line = i + 1
	if i < len(a) {
		c.Was = a[i]
	}
	if i < len(b) {
		c.Now = b[i]
	}
}

func promptItem(it *transcript.Item) string {
	switch it.Kind {
	case transcript.MessageItem:
		return it.Role + " message"
	case transcript.ToolDefinition:
		return "tool " + it.Name
	case transcript.ToolCall:
		return "call of " + it.Name
	case transcript.ToolResult:
		return "result " + it.CallID
	}
	return strings.ReplaceAll(string(it.Kind), "_", " ")
}

func promptText(it *transcript.Item) string {
	switch {
	case it == nil:
		return ""
	case it.Kind == transcript.ToolDefinition:
		return fmt.Sprintf("tool %s", it.Name)
	case it.Text != "":
		return it.Text
	}
	return string(it.Raw)
}
