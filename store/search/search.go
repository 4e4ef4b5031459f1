package search

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/retake-debugger/retake/transcript"
)

// Rows are read in pages. Most searches end in the first, which is small. Each page
// costs a new query, so they grow.
const (
	firstPage = 32
	mostPage  = 2048
)

// Find returns all items in the index that may match, newest first. id turns the id of a
// run into that of its row.
func Find(ctx context.Context, db DB, limits Limits, id func(string) any, q transcript.SearchQuery) iter.Seq2[transcript.SearchItem, error] {
	return func(yield func(transcript.SearchItem, error) bool) {
		s := searching{db: db, ctx: ctx, limits: limits, q: &q, tools: map[int64]string{}, passed: map[int64]bool{}}
		if err := s.run(id, yield); err != nil && !errors.Is(err, errEnough) {
			if !errors.Is(err, transcript.ErrNoIndex) {
				err = fmt.Errorf("search: %w", err)
			}
			yield(transcript.SearchItem{}, err)
		}
	}
}

var errEnough = errors.New("the caller has enough")

// searching is one search.
type searching struct {
	db     DB
	ctx    context.Context
	limits Limits
	q      *transcript.SearchQuery
	query  *query // for its text, if it has one
	filter *exchangeFilter
	sieve  sieve
	tools  map[int64]string
	passed map[int64]bool // whether an exchange passes the filter
	given  map[int64]bool // rows that were returned, by ofExchanges
}

// textRow is a row of search_text, with those of its items that may match.
type textRow struct {
	id, first, last int64
	items           []packedItem
	same            bool
}

func (s *searching) run(id func(string) any, yield func(transcript.SearchItem, error) bool) error {
	if ok, err := s.begin(); !ok || err != nil {
		return err
	}
	filter, conditions := newExchangeFilter(s.q, id)
	s.filter = filter
	if err := s.narrow(conditions); err != nil {
		return err
	}
	if filter.isFew && len(filter.few) <= s.limits.VeryFew {
		return s.ofExchanges(filter.few, yield)
	}
	return s.ofTexts(yield)
}

// begin reports whether anything can be found.
func (s *searching) begin() (bool, error) {
	ok, err := available(s.ctx, s.db)
	if err != nil {
		return false, err
	}
	if !ok {
		return false, transcript.ErrNoIndex
	}
	if s.q.Text != "" {
		if s.query, err = queryOf(s.q); err != nil {
			return false, err
		}
		if ok, err := made(s.ctx, s.db); !ok || err != nil {
			return false, err
		}
	}
	s.sieve = sieve{errors: s.q.Errors, words: len(s.q.WordList()) > 0}
	if s.q.Tool != "" {
		s.sieve.tools, err = s.toolsNamed(s.q.Tool)
		return len(s.sieve.tools) > 0, err
	}
	return true, nil
}

// ofExchanges returns the items of a few exchanges.
func (s *searching) ofExchanges(numbers []int64, yield func(transcript.SearchItem, error) bool) error {
	const query = `SELECT id, first, last, items, same IS NOT NULL FROM search_text WHERE first BETWEEN ?1 - ?2 AND ?1 AND last >= ?1
		UNION ALL SELECT t.id, t.first, t.last, t.items, 1 FROM search_place p JOIN search_text t ON t.id = p.text WHERE p.exchange = ?1 ORDER BY 1 DESC`
	s.given = map[int64]bool{}
	for _, n := range slices.Backward(numbers) {
		texts, _, _, err := s.read(query, n, transcript.MostExchanges)
		if err != nil {
			return err
		}
		texts = slices.DeleteFunc(texts, func(t textRow) bool { return s.given[t.id] })
		for i := range texts {
			s.given[texts[i].id] = true
			if err := s.text(&texts[i], yield); err != nil {
				return err
			}
		}
	}
	return nil
}

// ofTexts returns the items of the rows that match, or of all. It merges two streams:
// exchanges that were indexed once more have rows of their own.
func (s *searching) ofTexts(yield func(transcript.SearchItem, error) bool) error {
	span, err := s.span()
	if err != nil {
		return err
	}
	streams := []*stream{{searching: s, from: max(span[0], 1), below: min(span[1]+1, againFrom)}, {searching: s, from: max(span[0], againFrom), below: span[1] + 1}}
	for {
		var next *stream
		for _, st := range streams {
			row, err := st.peek()
			if err != nil {
				return err
			}
			if row != nil && (next == nil || row.last > next.rows[0].last) {
				next = st
			}
		}
		if next == nil {
			return s.ofElsewhere(span, yield)
		}
		if err := s.text(&next.rows[0], yield); err != nil {
			return err
		}
		next.rows = next.rows[1:]
	}
}

// stream reads rows that may match, with ids from from to below, in descending order.
type stream struct {
	*searching
	from, below int64
	size        int // of the last page
	rows        []textRow
}

// peek returns the next row; nil after the last.
func (l *stream) peek() (*textRow, error) {
	for len(l.rows) == 0 && l.from < l.below {
		if err := l.page(); err != nil {
			return nil, err
		}
	}
	if len(l.rows) == 0 {
		return nil, nil
	}
	return &l.rows[0], nil
}

func (l *stream) page() error {
	most := mostTerms
	if l.size == 0 {
		most = fewTerms
		some := false // asking FTS5 for an empty span can mean a look at all rows
		err := l.db.Row(l.ctx, "SELECT EXISTS (SELECT 1 FROM search_text WHERE id >= ? AND id < ?)", []any{l.from, l.below}, &some)
		if !some || err != nil {
			l.below = l.from
			return err
		}
	}
	l.size = min(max(firstPage, l.size*4), mostPage)
	where, args := l.where("t.id >= ? AND t.id < ?", l.from, l.below)
	query := "SELECT t.id, t.first, t.last, t.items, t.same IS NOT NULL FROM search_text t WHERE " + where + " ORDER BY t.id DESC LIMIT ?"
	if q := l.query; q != nil {
		query = "SELECT t.id, t.first, t.last, t.items, t.same IS NOT NULL FROM " + q.table + " s CROSS JOIN search_text t ON t.id = s.rowid WHERE s." + q.table +
			" MATCH ? AND s.rowid >= ? AND s.rowid < ? AND " + where + " ORDER BY s.rowid DESC LIMIT ?"
		args = append([]any{match(q.terms, most), l.from, l.below}, args...)
	}
	rows, n, last, err := l.read(query, append(args, l.size)...)
	if l.rows = rows; n < l.size {
		l.below = l.from
	} else {
		l.below = last
	}
	return err
}

// span returns the lowest and the highest id of the texts of exchanges that can pass.
func (s *searching) span() ([2]int64, error) {
	f := s.filter
	if f.lowest == 0 && f.highest == math.MaxInt64 {
		return [2]int64{math.MinInt64, math.MaxInt64 - 1}, nil
	}
	var low, high sql.NullInt64
	query := "SELECT min(id), max(id) FROM search_text INDEXED BY search_text_first WHERE first BETWEEN ? AND ?"
	if err := s.db.Row(s.ctx, query, []any{f.lowest - transcript.MostExchanges, f.highest}, &low, &high); err != nil {
		return [2]int64{}, err
	}
	if !low.Valid {
		return [2]int64{0, -1}, nil
	}
	return [2]int64{low.Int64, high.Int64}, nil
}

// ofElsewhere returns the items of shared texts outside the span that exchanges within
// it introduce as well. They are mostly settings and few.
func (s *searching) ofElsewhere(span [2]int64, yield func(transcript.SearchItem, error) bool) error {
	if span[0] == math.MinInt64 {
		return nil
	}
	const query = `SELECT id, first, last, items, 1 FROM search_text WHERE id NOT BETWEEN ? AND ?
		AND id IN (SELECT text FROM search_place WHERE exchange BETWEEN ? AND ?) ORDER BY id DESC`
	texts, _, _, err := s.read(query, span[0], span[1], s.filter.lowest, s.filter.highest)
	for i := range texts {
		if err == nil {
			err = s.text(&texts[i], yield)
		}
	}
	return err
}

// where adds to a condition on search_text t that some exchange of the text may pass
// the filter.
func (s *searching) where(condition string, args ...any) (string, []any) {
	f := s.filter
	if !f.isFew && f.sql == "" {
		return condition, args
	}
	condition += " AND (t.first <= ? AND t.last >= ?"
	args = append(args, f.highest, f.lowest)
	if !f.isFew {
		condition += " AND EXISTS (SELECT 1 FROM exchange e NOT INDEXED WHERE e.n BETWEEN t.first AND t.last AND " + f.sql + ")"
		args = append(args, f.args...)
	}
	return condition + " OR t.same IS NOT NULL)", args
}

// read reads n rows, of which last is the id of the last, and returns those with items
// that may match.
func (s *searching) read(query string, args ...any) (texts []textRow, n int, last int64, err error) {
	var packed sql.RawBytes
	err = s.db.Rows(s.ctx, query, args, func(row *sql.Rows) error {
		var t textRow
		err := row.Scan(&t.id, &t.first, &t.last, &packed, &t.same)
		if n, last = n+1, t.id; err != nil || !t.same && !s.filter.within(t.first, t.last) {
			return err
		}
		if err = s.pick(&t, packed); len(t.items) > 0 {
			texts = append(texts, t)
		}
		return err
	})
	return texts, n, last, err
}

// passes reports whether an exchange passes the filter.
func (s *searching) passes(n int64) (bool, error) {
	if s.filter.sql == "" {
		return true, nil
	}
	if !s.filter.within(n, n) {
		return false, nil
	}
	ok, known := s.passed[n]
	if known {
		return ok, nil
	}
	err := s.db.Row(s.ctx, "SELECT EXISTS (SELECT 1 FROM exchange e WHERE e.n = ? AND "+s.filter.sql+")", append([]any{n}, s.filter.args...), &ok)
	s.passed[n] = ok
	return ok, err
}

// text yields the items of a row, the last one first.
func (s *searching) text(t *textRow, yield func(transcript.SearchItem, error) bool) error {
	for i := len(t.items) - 1; i >= 0; i-- {
		it := &t.items[i]
		var err error
		if it.Tool, err = s.tool(it.tool); err != nil {
			return err
		}
		ok, err := s.passes(it.Exchange)
		if err == nil && t.same {
			ok, err = s.elsewhere(t, it, ok)
		}
		if err != nil {
			return err
		}
		if ok && !yield(it.SearchItem, nil) {
			return errEnough
		}
	}
	return nil
}

// elsewhere counts the other exchanges that introduce a shared text. If the first does
// not pass the filter, the next that does takes its place.
func (s *searching) elsewhere(t *textRow, it *packedItem, passes bool) (bool, error) {
	again := 0
	err := s.db.Row(s.ctx, "SELECT count(*) FROM search_place WHERE text = ?", []any{t.id}, &again)
	if err == nil && !passes {
		var n int64
		var packed []byte
		query := "SELECT p.exchange, p.items FROM search_place p JOIN exchange e ON e.n = p.exchange WHERE p.text = ? AND " + s.filter.sql + " ORDER BY p.exchange LIMIT 1"
		err = s.db.Row(s.ctx, query, append([]any{t.id}, s.filter.args...), &n, &packed)
		if errors.Is(err, sql.ErrNoRows) {
			return false, nil
		}
		if err == nil {
			var items []packedItem
			if items, err = unpackItems(packed, n); err == nil && len(items) == 1 {
				tool := it.Tool
				*it, passes = items[0], true
				it.Tool = tool
			}
		}
	}
	it.Again = again
	return passes, err
}

func (s *searching) tool(id int64) (string, error) {
	name, ok := s.tools[id]
	if ok || id == 0 {
		return name, nil
	}
	err := s.db.Row(s.ctx, "SELECT name FROM search_tool WHERE id = ?", []any{id}, &name)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	s.tools[id] = name
	return name, err
}
