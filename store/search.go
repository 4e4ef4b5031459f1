package store

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

// Texts are read in pages. The first is small, since most searches end in it;
// each costs what it takes to find the first of its texts, so they grow.
const (
	firstPage = 8
	mostPage  = 2048
)

// SearchState tells how far the index is.
func (r *reader) SearchState(ctx context.Context) (transcript.SearchState, error) {
	s := transcript.SearchState{Index: true}
	var last int64
	err := r.st.row(ctx, `SELECT done, coalesce((SELECT max(n) FROM exchange), 0), CASE done WHEN 0 THEN
		(SELECT coalesce(sum(bytes), 0) FROM (SELECT request_bytes + response_bytes AS bytes FROM exchange LIMIT ?)) ELSE 0 END
		FROM search_state`, []any{lagCounted}, &s.Done, &last, &s.Bytes)
	if err != nil {
		return s, fmt.Errorf("read search index: %w", err)
	}
	list, err := r.Unindexed(ctx, lagCounted)
	if s.Lag = int64(len(list)); s.Lag == lagCounted {
		s.Lag = max(s.Lag, last-s.Done)
	}
	return s, err
}

// lagCounted is up to how many exchanges are counted one by one.
const lagCounted = 1000

// Unindexed lists exchanges that the index does not hold: first those to be
// indexed once more.
func (r *reader) Unindexed(ctx context.Context, limit int) ([]transcript.Unindexed, error) {
	const query = `SELECT a.exchange, 1 FROM search_again a, search_state s WHERE a.exchange <= s.done
		UNION ALL
		SELECT * FROM (SELECT n, n IN (SELECT exchange FROM search_again) FROM exchange WHERE n > (SELECT done FROM search_state) ORDER BY n LIMIT ?1)
		LIMIT ?1`
	var list []transcript.Unindexed
	err := r.st.rows(ctx, query, []any{limit}, func(row *sql.Rows) error {
		var u transcript.Unindexed
		err := row.Scan(&u.N, &u.Whole)
		list = append(list, u)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list what is not indexed: %w", err)
	}
	return list, nil
}

// Search gives all items in the index that may match, newest first.
func (r *reader) Search(ctx context.Context, q transcript.SearchQuery) iter.Seq2[transcript.SearchItem, error] {
	return func(yield func(transcript.SearchItem, error) bool) {
		s := searching{reader: r, ctx: ctx, limits: r.limits, q: &q, tools: map[int64]string{}, passed: map[int64]bool{}}
		if err := s.run(yield); err != nil && !errors.Is(err, errEnough) {
			if !errors.Is(err, transcript.ErrNoIndex) {
				err = fmt.Errorf("search: %w", err)
			}
			yield(transcript.SearchItem{}, err)
		}
	}
}

// searching is one search.
type searching struct {
	*reader
	ctx    context.Context
	limits searchLimits
	q      *transcript.SearchQuery
	terms  termQuery // of its text, if it has one
	filter *exchangeFilter
	sieve  sieve
	tools  map[int64]string
	passed map[int64]bool // exchanges that were held against the filter
	given  map[int64]bool // texts, where the same may come again
}

// textRow is a row of search_text, with those of its items that may be looked for.
type textRow struct {
	id, first, last int64
	items           []packedItem
	same            bool
}

func (s *searching) run(yield func(transcript.SearchItem, error) bool) error {
	if s.q.Text != "" {
		var err error
		if s.terms, err = queryOf(s.q); err != nil {
			return err
		}
	}
	s.sieve = sieve{errors: s.q.Errors, words: len(s.q.WordList()) > 1}
	if s.q.Tool != "" {
		var err error
		if s.sieve.tools, err = s.toolsNamed(s.q.Tool); err != nil || len(s.sieve.tools) == 0 {
			return err
		}
	}
	filter, conditions := newExchangeFilter(s.q)
	s.filter = filter
	if err := s.narrow(conditions); err != nil {
		return err
	}
	if filter.isFew && len(filter.few) <= s.limits.veryFew {
		return s.ofExchanges(filter.few, yield)
	}
	return s.ofTexts(yield)
}

// ofExchanges gives the items of a few exchanges.
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

// ofTexts gives the items of the texts that match, or of all.
func (s *searching) ofTexts(yield func(transcript.SearchItem, error) bool) error {
	span, err := s.span()
	if err != nil {
		return err
	}
	if s.q.Text == "" {
		err = s.ofSpan([2]int64{max(span[0], 1), span[1]}, yield)
	} else {
		err = s.ofLanes([2]int64{max(span[0], 1), span[1]}, yield)
	}
	if err == nil {
		err = s.ofElsewhere(span, yield)
	}
	return err
}

// ofSpan gives the items of all texts between two ids.
func (s *searching) ofSpan(span [2]int64, yield func(transcript.SearchItem, error) bool) error {
	for below, size := span[1]+1, firstPage; below > span[0]; size = min(size*4, mostPage) {
		where, args := s.where("t.id >= ? AND t.id < ?", span[0], below)
		query := "SELECT t.id, t.first, t.last, t.items, t.same IS NOT NULL FROM search_text t WHERE " + where + " ORDER BY t.id DESC LIMIT ?"
		page, n, last, err := s.read(query, append(args, size)...)
		if err != nil {
			return err
		}
		for i := range page {
			if err := s.text(&page[i], yield); err != nil {
				return err
			}
		}
		if n < size {
			return nil
		}
		below = last
	}
	return nil
}

// span gives the ids between which the texts of all exchanges are that can pass.
func (s *searching) span() ([2]int64, error) {
	f := s.filter
	if f.lowest == 0 && f.highest == math.MaxInt64 {
		return [2]int64{math.MinInt64, math.MaxInt64 - 1}, nil
	}
	var low, high sql.NullInt64
	query := "SELECT min(id), max(id) FROM search_text INDEXED BY search_text_first WHERE first BETWEEN ? AND ?"
	if err := s.st.row(s.ctx, query, []any{f.lowest - transcript.MostExchanges, f.highest}, &low, &high); err != nil {
		return [2]int64{}, err
	}
	if !low.Valid {
		return [2]int64{0, -1}, nil
	}
	return [2]int64{low.Int64, high.Int64}, nil
}

// ofElsewhere gives the items of texts outside of the span that exchanges within
// bring too. They are settings mostly, and not many: the sieve is enough.
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

// where narrows a condition on search_text t to texts of which some exchange may
// pass the filter.
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

// read reads texts. n is how many there are, of which those are given that may
// hold what is looked for, and last the id of the last.
func (s *searching) read(query string, args ...any) (texts []textRow, n int, last int64, err error) {
	var packed sql.RawBytes
	err = s.st.rows(s.ctx, query, args, func(row *sql.Rows) error {
		var t textRow
		err := row.Scan(&t.id, &t.first, &t.last, &packed, &t.same)
		if n, last = n+1, t.id; err != nil || !t.same && !s.filter.within(t.first, t.last) {
			return err
		}
		if err = s.pick(&t, packed, nil); len(t.items) > 0 {
			texts = append(texts, t)
		}
		return err
	})
	return texts, n, last, err
}

// passes holds an exchange against the filter.
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
	err := s.st.row(s.ctx, "SELECT EXISTS (SELECT 1 FROM exchange e WHERE e.n = ? AND "+s.filter.sql+")", append([]any{n}, s.filter.args...), &ok)
	s.passed[n] = ok
	return ok, err
}

// text gives the items of a text, the last one first.
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

// elsewhere counts the other exchanges that bring a text that is kept once. If
// its own does not pass the filter, the first that does takes its place.
func (s *searching) elsewhere(t *textRow, it *packedItem, passes bool) (bool, error) {
	again := 0
	err := s.st.row(s.ctx, "SELECT count(*) FROM search_place WHERE text = ?", []any{t.id}, &again)
	if err == nil && !passes {
		var n int64
		var packed []byte
		query := "SELECT p.exchange, p.items FROM search_place p JOIN exchange e ON e.n = p.exchange WHERE p.text = ? AND " + s.filter.sql + " ORDER BY p.exchange LIMIT 1"
		err = s.st.row(s.ctx, query, append([]any{t.id}, s.filter.args...), &n, &packed)
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
	err := s.st.row(s.ctx, "SELECT name FROM search_tool WHERE id = ?", []any{id}, &name)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	s.tools[id] = name
	return name, err
}
