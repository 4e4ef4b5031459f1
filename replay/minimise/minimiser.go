package minimise

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
)

// Part is a kind of what a request consists of.
type Part string

// The parts of a request, in the order in which a Minimiser leaves them out.
const (
	Items Part = "items" // messages and other items; a call and its results are one
	Lines Part = "lines" // of the long texts of the items that are left
	Tools Part = "tools" // definitions of tools
)

// Minimiser finds a smallest part of a recorded request to which the model still
// answers in some way. A candidate is asked several times, as a take each; it shows
// the behaviour if enough of the answers do. What lint says a provider would refuse,
// and the whole request has not, is never sent.
type Minimiser struct {
	Player    *replay.Player
	Request   *replay.Request  // as recorded, ready to be sent, without edits
	Predicate replay.Predicate // at a take of one step, whatever its mode says
	Parts     []Part           // that may be left out, in this order; nil: items, lines, tools
	Samples   int              // how often a candidate is asked; at least 1
	AtLeast   int              // how many of its answers have to show it; 0: more than half
	Parallel  int              // requests at once; at least 1
	Retries   int              // see Options
	Requests  int              // most that are sent; 0 for no limit
	Cost      *big.Rat         // USD; none is sent beyond it; nil for no limit
	Group     string           // what its takes have in common, in the store
	Reason    string           // in a user's words, kept with the take of the smallest request
	// Recorded is the recorded answer, and Suspect reports whether a text is likely to
	// matter: such parts are tried first. Both may be nil.
	Recorded *transcript.Turn
	Suspect  func(text string) bool
	// Progress, if set, is called for each candidate that was asked.
	Progress func(Tried)
}

// Tried is a candidate that was asked.
type Tried struct {
	Part     Part     `json:"part"` // that was tried to be left out; "" for the whole request
	Items    int      `json:"items"`
	Lines    int      `json:"lines"`
	Tools    int      `json:"tools"`
	Shows    bool     `json:"shows"`
	Yes      int      `json:"yes"`   // answers that show it
	Asked    int      `json:"asked"` // of so many: as many as it takes to know
	Refused  string   `json:"refused,omitempty"`
	Takes    []string `json:"takes"`
	Requests int      `json:"-"` // sent until now
}

// minimising is a Minimiser at work.
type minimising struct {
	*Minimiser
	parts    *parts
	suspects *suspects
	tried    map[[sha256.Size]byte]bool // bodies, and whether they show it
	list     []Tried
	illegal  int
	spent    takesSum
	part     Part
	best     *candidate
	bestTake string
	least    bool
	stopped  string
}

// ErrRefused means that a provider refuses the recorded request, so that nothing can be
// said of parts of it.
var ErrRefused = errors.New("the request is refused")

// ErrFailed means that a request failed in a way that says nothing about it, so that
// there is no use in further ones.
var ErrFailed = errors.New("a request failed")

// Run finds the smallest request. It is asked again in the end, since of many
// candidates some show it by chance. ErrNotShown if the whole request does not show
// the behaviour. Where ctx, the limits or a failure end it, the result is the
// smallest so far, and says why.
func (m *Minimiser) Run(ctx context.Context) (*Smallest, error) {
	w, err := m.start()
	if err != nil {
		return nil, err
	}
	shows, err := w.shows(ctx, w.parts.all())
	if err != nil {
		return nil, err
	}
	if !shows {
		w.best = w.parts.all()
		err = ErrNotShown
		if r := w.list[0].Refused; r != "" {
			err = fmt.Errorf("%w: %s", ErrRefused, r)
		}
		return w.result(nil), err
	}
	if err := w.reduce(ctx); w.goesOn(ctx, err) != nil {
		return nil, err
	}
	again, err := w.again(ctx)
	if w.goesOn(ctx, err) != nil {
		return nil, err
	}
	return w.result(again), nil
}

// goesOn notes why the search ended if it ended with a result, and returns any other
// error.
func (w *minimising) goesOn(ctx context.Context, err error) error {
	switch {
	case err == nil:
	case ctx.Err() != nil:
		w.stopped = "interrupted"
	case errors.Is(err, ErrBudget):
	case errors.Is(err, ErrFailed):
		w.stopped = err.Error()
	default:
		return err
	}
	return nil
}

func (m *Minimiser) start() (*minimising, error) {
	own := *m
	own.Samples, own.Parallel = max(1, m.Samples), max(1, m.Parallel)
	if own.AtLeast < 1 || own.AtLeast > own.Samples {
		own.AtLeast = own.Samples/2 + 1
	}
	if own.Parts == nil {
		own.Parts = []Part{Items, Lines, Tools}
	}
	parts, err := readParts(m.Request)
	if err != nil {
		return nil, err
	}
	w := &minimising{Minimiser: &own, parts: parts, tried: map[[sha256.Size]byte]bool{}}
	w.suspects = w.parts.suspects(m.Suspect, m.Recorded)
	return w, nil
}

// reduce leaves out parts of each kind, and once more while that makes a difference:
// what a tool or a line made necessary may go with it.
func (w *minimising) reduce(ctx context.Context) error {
	for {
		before := w.best.size()
		least := true
		for _, w.part = range w.Parts {
			ok, err := w.phase(ctx)
			if err != nil || w.stopped != "" {
				return err
			}
			least = least && ok
		}
		if len(w.Parts) < 2 || w.best.size() == before {
			w.least = least
			return nil
		}
	}
}

// phase leaves out parts of one kind. least reports whether no single one can go.
func (w *minimising) phase(ctx context.Context) (least bool, err error) {
	base := w.best
	units, suspected := w.order()
	with := func(kept []int) *candidate {
		c := base.clone()
		flags := c.flags(w.part)
		for _, u := range units {
			*flags[u] = false
		}
		for _, k := range kept {
			*flags[units[k]] = true
		}
		return c
	}
	if suspected > 0 && 2*suspected <= len(units) {
		all := make([]int, suspected)
		for i := range all {
			all[i] = i
		}
		shows, err := w.shows(ctx, with(all))
		if err != nil {
			return false, err
		}
		if shows { // the rest may go
			base = w.best
			units = units[:suspected]
		}
	}
	found, err := Reduce(ctx, len(units), func(ctx context.Context, kept []int) (bool, error) { return w.shows(ctx, with(kept)) })
	if err != nil {
		return false, err
	}
	return found.Least, nil
}

// order returns the parts of a kind that are left, those first that are most
// suspected, and how many are suspicious. Sorted, ddmin finds neighbours at once.
func (w *minimising) order() (list []int, suspected int) {
	switch w.part {
	case Items:
		for u, kept := range w.best.units {
			if kept {
				list = append(list, u)
			}
		}
		return w.suspects.ranked(list)
	case Tools:
		for i, kept := range w.best.tools {
			if kept {
				list = append(list, i)
			}
		}
		return rank(list, func(i int) int { return w.suspects.scoreTool(w.parts.tools[i].item, w.Recorded) })
	}
	kept := w.parts.kept(w.parts.complete(w.best))
	scores := map[int]int{}
	n := 0
	for i := range w.parts.texts {
		t := &w.parts.texts[i]
		for l, line := range t.lines {
			if kept[t.piece] && w.best.lines[i][l] {
				list, scores[n] = append(list, n), w.suspects.scoreText(line)
			}
			n++
		}
	}
	return rank(list, func(i int) int { return scores[i] })
}

// flags returns what says of each part of a kind whether it stays.
func (c *candidate) flags(part Part) (list []*bool) {
	of := func(flags []bool) {
		for i := range flags {
			list = append(list, &flags[i])
		}
	}
	switch part {
	case Items:
		of(c.units)
	case Tools:
		of(c.tools)
	default:
		for _, lines := range c.lines {
			of(lines)
		}
	}
	return list
}

// size counts what is kept.
func (c *candidate) size() (n int) {
	for _, part := range [...]Part{Items, Lines, Tools} {
		for _, kept := range c.flags(part) {
			if *kept {
				n++
			}
		}
	}
	return n
}

// shows reports whether a candidate shows the behaviour. None is asked twice, nor what
// a provider would refuse.
func (w *minimising) shows(ctx context.Context, c *candidate) (bool, error) {
	req, whole, err := w.request(c)
	if err != nil {
		return false, err
	}
	name := sha256.Sum256(req.Body)
	shows, known := w.tried[name]
	if !known && len(req.Edits) > 0 && len(req.NewErrors()) > 0 {
		w.illegal++
		w.tried[name], known = false, true
	}
	take := w.bestTake
	if !known {
		t, err := w.ask(ctx, req, whole)
		if err != nil {
			return false, err
		}
		if shows = t.Shows; shows {
			take = t.Takes[0]
		}
		w.tried[name] = shows
	}
	if shows && (w.best == nil || c.size() < w.best.size()) {
		w.best, w.bestTake = c, take
	}
	return shows, nil
}

// request makes the request of a candidate; whole is that with what its API wants.
func (w *minimising) request(c *candidate) (req *replay.Request, whole *candidate, err error) {
	whole = w.parts.complete(c)
	edits, err := w.parts.edits(whole)
	if err != nil || len(edits) == 0 {
		return w.Request, whole, err
	}
	body, err := w.parts.build(edits)
	if err != nil {
		return nil, nil, fmt.Errorf("leave out parts: %w", err)
	}
	req, err = w.Request.With(edits, body)
	return req, whole, err
}

// count returns how much of a candidate there is: items that are units, lines of what
// is left of long texts, tools.
func (w *minimising) count(c *candidate) (items, lines, tools int) {
	kept := w.parts.kept(c)
	for i := range w.parts.texts {
		if kept[w.parts.texts[i].piece] {
			lines += countTrue(c.lines[i])
		}
	}
	return countTrue(c.units), lines, countTrue(c.tools)
}

func countTrue(list []bool) int {
	return len(slices.DeleteFunc(slices.Clone(list), func(b bool) bool { return !b }))
}

// Plan takes over what a plan says, once it was worked out.
func (m *Minimiser) Plan(y *replay.Ready) {
	p := y.Plan
	m.Request, m.Recorded, m.Predicate, m.Suspect = y.Request, y.Recorded, y.Predicate, p.Expect.Suspect()
	m.Cost, m.Retries, m.Reason = p.Limits.Cost, p.Retries, p.Reason
}
