package search

import (
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/store/varint"
	"github.com/retake-debugger/retake/transcript"
)

// sieve passes the items of a row that may match, by what the row says of them.
type sieve struct {
	errors bool           // it must be an error
	tools  map[int64]bool // it must be about one of these; nil for any
	words  bool           // rows with only the words of a long item count
}

// pick adds the items of a row that may match. It decodes nothing of the others.
func (s *searching) pick(t *textRow, packed []byte) error {
	r := itemReader{v: varint.Reader{B: packed}, exchange: t.first}
	for r.next() {
		if s.sieve.passes(&r) && (t.same || s.filter.within(r.exchange, r.exchange)) {
			t.items = append(t.items, r.item())
		}
	}
	if r.v.Bad {
		return fmt.Errorf("text %d: %w", t.id, errItems)
	}
	return nil
}

func (s *sieve) passes(r *itemReader) bool {
	if s.errors && r.flags&flagError == 0 || s.tools != nil && !s.tools[r.tool] {
		return false
	}
	return s.words || r.flags&flagWords == 0
}

// toolsNamed returns the rows of tools whose names contain part.
func (s *searching) toolsNamed(part string) (map[int64]bool, error) {
	found, part := map[int64]bool{}, strings.ToLower(part)
	err := s.db.Rows(s.ctx, "SELECT id, name FROM search_tool", nil, func(row *sql.Rows) error {
		var id int64
		var name string
		err := row.Scan(&id, &name)
		if strings.Contains(strings.ToLower(name), part) {
			found[id] = true
		}
		return err
	})
	return found, err
}

// exchangeFilter is the condition on an exchange e.
type exchangeFilter struct {
	sql  string // "" for none
	args []any
	// All exchanges that pass lie between lowest and highest. Where they are few, they
	// are in the list few, which is in order and may have others.
	lowest, highest int64
	few             []int64
	isFew           bool
}

// Limits decide how a filtered search proceeds, by how many exchanges pass the filter.
type Limits struct {
	VeryFew int // up to so many are looked through one by one, whatever the text
	Few     int // up to so many are listed
	Some    int // up to so many are counted to find the lowest and the highest
}

// UsualLimits returns the limits for all but tests.
func UsualLimits() Limits { return Limits{VeryFew: 100, Few: 20_000, Some: 500_000} }

// OfAnyModel lets SQLite use the index exchange_model for times. There are few models.
const OfAnyModel = "model IN (SELECT id FROM model)"

// condition is one part of a filter.
type condition struct {
	sql   string
	args  []any
	timed bool // the exchanges that meet it are more or less neighbours
}

// newExchangeFilter returns the filter of a query and its conditions.
func newExchangeFilter(q *transcript.SearchQuery, id func(string) any) (*exchangeFilter, []condition) {
	var list []condition
	if q.Run != "" {
		list = append(list, condition{"e.run = ?", []any{id(q.Run)}, false})
	}
	if q.Model != "" {
		list = append(list, condition{"e.model IN (SELECT id FROM model WHERE instr(lower(asked), lower(?)) OR instr(lower(answered), lower(?)))", []any{q.Model, q.Model}, false})
	}
	if q.Status != [2]int{} {
		text := "e.status BETWEEN ? AND ?"
		if q.Status[0] > 200 || q.Status[1] < 200 {
			text += " AND e.status <> 200" // selects the partial index
		}
		list = append(list, condition{text, []any{q.Status[0], q.Status[1]}, false})
	}
	switch q.Outcome {
	case "":
	case transcript.OK:
		list = append(list, condition{"e.outcome = 'ok'", nil, false})
	default:
		list = append(list, condition{"e.outcome = ? AND e.outcome <> 'ok'", []any{string(q.Outcome)}, false})
	}
	if !q.After.IsZero() || !q.Before.IsZero() {
		c := condition{"e." + OfAnyModel + " AND e.started >= ? AND e.started < ?", []any{int64(math.MinInt64), int64(math.MaxInt64)}, true}
		if !q.After.IsZero() {
			c.args[0] = q.After.UnixNano()
		}
		if !q.Before.IsZero() {
			c.args[1] = q.Before.UnixNano()
		}
		list = append(list, c)
	}
	f := &exchangeFilter{highest: math.MaxInt64}
	var all []string
	for _, c := range list {
		all = append(all, c.sql)
		f.args = append(f.args, c.args...)
	}
	f.sql = strings.Join(all, " AND ")
	return f, list
}

// indexed reports whether an index finds the exchanges that meet a condition.
func (c *condition) indexed() bool {
	return !strings.HasPrefix(c.sql, "e.status") && c.sql != "e.outcome = 'ok'" || strings.HasSuffix(c.sql, "<> 200")
}

// narrow finds the exchanges that can pass, as far as indexes tell, so that the texts
// of others are not read.
func (s *searching) narrow(list []condition) error {
	f := s.filter
	least := s.limits.Few + 1
	var best *condition
	for i := range list {
		c := &list[i]
		if !c.indexed() {
			continue
		}
		n := 0
		query := "SELECT count(*) FROM (SELECT 1 FROM exchange e WHERE " + c.sql + " LIMIT ?)"
		if err := s.db.Row(s.ctx, query, append(slices.Clone(c.args), s.limits.Few+1), &n); err != nil {
			return err
		}
		if n < least {
			best, least = c, n
		}
		if n > s.limits.Few && c.timed {
			if err := s.between(c); err != nil {
				return err
			}
		}
	}
	if best == nil {
		return nil
	}
	f.isFew = true
	err := s.db.Rows(s.ctx, "SELECT n FROM exchange e WHERE "+best.sql, best.args, func(row *sql.Rows) error {
		var n int64
		err := row.Scan(&n)
		f.few = append(f.few, n)
		return err
	})
	slices.Sort(f.few)
	if len(f.few) > 0 {
		f.lowest, f.highest = max(f.lowest, f.few[0]), min(f.highest, f.few[len(f.few)-1])
	}
	return err
}

// between finds the lowest and the highest exchange that meet a condition.
func (s *searching) between(c *condition) error {
	var low, high sql.NullInt64
	n := 0
	query := "SELECT min(n), max(n), count(*) FROM (SELECT n FROM exchange e WHERE " + c.sql + " LIMIT ?)"
	err := s.db.Row(s.ctx, query, append(slices.Clone(c.args), s.limits.Some), &low, &high, &n)
	if err == nil && n < s.limits.Some {
		s.filter.lowest, s.filter.highest = low.Int64, high.Int64
	}
	return err
}

// within reports whether an exchange from first to last can pass.
func (f *exchangeFilter) within(first, last int64) bool {
	if !f.isFew {
		return first <= f.highest && last >= f.lowest
	}
	i, _ := slices.BinarySearch(f.few, first)
	return i < len(f.few) && f.few[i] <= last
}
