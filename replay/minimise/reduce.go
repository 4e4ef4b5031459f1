package minimise

import (
	"context"
	"errors"
	"slices"
)

// Shows reports whether a behaviour still shows with only these units, given by their
// indices in order.
type Shows func(ctx context.Context, kept []int) (bool, error)

// ErrNotShown means that a behaviour does not show although nothing was left out.
var ErrNotShown = errors.New("the behaviour does not show with everything kept")

// ErrBudget means that a Shows will look at nothing more. Reduce then stops with what
// it has.
var ErrBudget = errors.New("the budget is used up")

// Reduced is what Reduce found.
type Reduced struct {
	Kept  []int // units with which the behaviour shows
	Least bool  // without any single one of them it does not
	Asked int   // how often the predicate was asked
}

// Reduce finds a small set of n units with which a behaviour still shows, by delta
// debugging (Zeller, Hildebrandt: Simplifying and Isolating Failure-Inducing Input):
// it leaves out ever smaller parts. No set is asked for twice, and all that is left
// out by one step stays out. Where the cause is a few of many units it asks about
// twice their number times the logarithm of n.
func Reduce(ctx context.Context, n int, shows Shows) (*Reduced, error) {
	m := &reduction{shows: shows, seen: map[string]bool{}}
	m.Kept = make([]int, n)
	for i := range m.Kept {
		m.Kept[i] = i
	}
	all, err := m.ask(ctx, m.Kept)
	if err == nil && !all {
		err = ErrNotShown
	}
	if err == nil {
		err = m.reduce(ctx)
	}
	if errors.Is(err, ErrBudget) {
		err = nil
	}
	return &m.Reduced, err
}

type reduction struct {
	Reduced
	shows Shows
	seen  map[string]bool // sets that do not show it
}

func (m *reduction) ask(ctx context.Context, kept []int) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	name := setName(kept)
	if m.seen[name] {
		return false, nil
	}
	ok, err := m.shows(ctx, kept)
	if err != nil {
		return false, err
	}
	m.Asked++
	if !ok {
		m.seen[name] = true
	}
	return ok, nil
}

func setName(kept []int) string {
	b := make([]byte, 0, 3*len(kept))
	for _, i := range kept {
		b = append(b, byte(i), byte(i>>8), byte(i>>16))
	}
	return string(b)
}

// reduce leaves out what it can.
func (m *reduction) reduce(ctx context.Context) error {
	if ok, err := m.ask(ctx, nil); err != nil || ok {
		m.Least = ok
		if ok {
			m.Kept = []int{}
		}
		return err
	}
	for parts := 2; ; {
		parts = min(parts, len(m.Kept))
		if parts < 2 {
			m.Least = true // nothing at all does not show it
			return nil
		}
		smaller, err := m.smaller(ctx, parts)
		switch {
		case err != nil:
			return err
		case smaller == 1: // one part alone does: begin again with it
			parts = 2
		case smaller > 1: // some parts went; the others stay as large as they were
			parts = max(parts-smaller+1, 2)
		case parts == len(m.Kept):
			m.Least = true
			return nil
		default:
			parts *= 2
		}
	}
}

// smaller cuts what is kept into parts. 1: it kept one part alone; more: it left out one
// less than so many; 0: it could leave out none.
func (m *reduction) smaller(ctx context.Context, parts int) (int, error) {
	cut := func(i int) int { return i * len(m.Kept) / parts }
	if parts == 2 {
		// A part alone; the rest without it is the other part.
		for i := range parts {
			part := slices.Clone(m.Kept[cut(i):cut(i+1)])
			ok, err := m.ask(ctx, part)
			if err != nil {
				return 0, err
			}
			if ok {
				m.Kept = part
				return 1, nil
			}
		}
		return 0, nil
	}
	var bounds [][]int
	for i := range parts {
		bounds = append(bounds, slices.Clone(m.Kept[cut(i):cut(i+1)]))
	}
	gone := 0
	for _, part := range bounds {
		rest := slices.DeleteFunc(slices.Clone(m.Kept), func(unit int) bool {
			_, out := slices.BinarySearch(part, unit)
			return out
		})
		if len(rest) == 0 || len(rest) == len(m.Kept) {
			continue
		}
		ok, err := m.ask(ctx, rest)
		if err != nil {
			return 0, err
		}
		if ok {
			m.Kept = rest
			gone++
		}
	}
	if gone == 0 {
		return 0, nil
	}
	return gone + 1, nil
}
