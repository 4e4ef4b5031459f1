package store

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/retake-debugger/retake/transcript"
)

const (
	// mostBlocks is how many blocks are asked at once. The first is asked alone,
	// since most searches end in it.
	mostBlocks = 8
	// firstTerms is how many terms are asked for at first.
	firstTerms = 8
)

// searchLane finds the texts of a lane that may match, the last one first.
type searchLane struct {
	*searching
	lane   int64
	span   [2]int64      // between which texts
	all    []searchBlock // of both lanes, to begin with
	blocks []searchBlock
	listed bool
	missed int64   // block that was not there any more
	below  int64   // all cells from here on were asked about
	ask    int     // how many blocks to ask next
	cells  []int64 // that hold all terms and were not looked at yet
	looked int64   // the last that was looked at
	size   int     // how many to look at next
	texts  []textRow
}

// ofLanes gives the items of the texts that match and whose ids are in a span.
func (s *searching) ofLanes(span [2]int64, yield func(transcript.SearchItem, error) bool) error {
	all, err := s.searchBlocks(s.ctx, blockAsked)
	if err != nil {
		return err
	}
	var lanes [2]*searchLane
	for i := range lanes {
		lanes[i] = &searchLane{searching: s, all: all, lane: int64(i), span: span, below: math.MaxInt64, looked: math.MaxInt64, ask: 1, size: firstPage}
	}
	for {
		var best *searchLane
		for _, l := range lanes {
			text, err := l.peek()
			if err != nil {
				return err
			}
			if text != nil && (best == nil || text.last > best.texts[0].last) {
				best = l
			}
		}
		if best == nil {
			return nil
		}
		if err := s.text(&best.texts[0], yield); err != nil {
			return err
		}
		best.texts = best.texts[1:]
	}
}

// peek gives the next text; nil after the last.
func (l *searchLane) peek() (*textRow, error) {
	for len(l.texts) == 0 {
		if len(l.cells) > 0 {
			n := min(l.size, len(l.cells))
			cells := l.cells[:n]
			l.cells, l.size = l.cells[n:], min(2*l.size, mostPage)
			if err := l.readTexts(cells); err != nil {
				return nil, err
			}
			continue
		}
		more, err := l.askBlocks()
		if !more || err != nil {
			return nil, err
		}
	}
	return &l.texts[0], nil
}

// readTexts reads the texts of cells.
func (l *searchLane) readTexts(cells []int64) error {
	list, err := json.Marshal(cells)
	if err != nil {
		return err
	}
	where, args := l.where("t.id BETWEEN ? AND ?", l.span[0], l.span[1])
	query := `SELECT t.id, t.first, t.last, t.items, t.same IS NOT NULL
		FROM json_each(?) c CROSS JOIN search_text t ON t.id = (SELECT max(id) FROM search_text WHERE id <= c.value) WHERE ` + where
	before := l.looked
	l.looked = cells[len(cells)-1]
	in := func(first, n int64) bool { // an item that was in the cell before was given
		return inCells(first, n, cells) && (before < first || before >= first+n)
	}
	var packed sql.RawBytes
	last := int64(-1)
	return l.st.rows(l.ctx, query, append([]any{string(list)}, args...), func(row *sql.Rows) error {
		var t textRow
		err := row.Scan(&t.id, &t.first, &t.last, &packed, &t.same)
		if err != nil || t.id == last || !t.same && !l.filter.within(t.first, t.last) {
			return err
		}
		last = t.id
		if err = l.pick(&t, packed, in); len(t.items) > 0 {
			l.texts = append(l.texts, t)
		}
		return err
	})
}

// inCells tells whether one of n cells from first on is among some that descend.
func inCells(first, n int64, cells []int64) bool {
	i, _ := slices.BinarySearchFunc(cells, first+n-1, func(cell, last int64) int { return cmp.Compare(last, cell) })
	return i < len(cells) && cells[i] >= first
}

// askBlocks finds the cells of the next blocks that hold all terms.
func (l *searchLane) askBlocks() (more bool, err error) {
	if !l.listed {
		if err := l.list(); err != nil {
			return false, err
		}
	}
	if len(l.blocks) == 0 {
		return false, nil
	}
	n := min(l.ask, len(l.blocks))
	found, err := l.holding(l.blocks[:n])
	if err != nil {
		return false, err
	}
	for i := range found {
		if !found[i].there { // it was joined meanwhile, and is listed no more
			if l.missed == l.blocks[i].id {
				return false, fmt.Errorf("block %d: %w", l.missed, errPostings)
			}
			l.listed, l.missed = false, l.blocks[i].id
			return true, nil
		}
		for _, cell := range slices.Backward(found[i].cells) {
			if at := l.blocks[i].first + int64(cell); at < l.below {
				l.cells = append(l.cells, at)
			}
		}
		l.below = l.blocks[i].first
	}
	l.blocks, l.ask = l.blocks[n:], min(2*l.ask, mostBlocks)
	return true, nil
}

// list lists the blocks to ask, the last one first.
func (l *searchLane) list() error {
	all := l.all
	l.all = nil
	if all == nil {
		var err error
		if all, err = l.searchBlocks(l.ctx, blockAsked); err != nil {
			return err
		}
	}
	l.blocks, l.listed = nil, true
	for _, b := range slices.Backward(all) {
		if b.lane == l.lane && b.first < l.below && b.first <= l.span[1] && b.end() > l.span[0] {
			l.blocks = append(l.blocks, b)
		}
	}
	return nil
}

// heldIn tells which cells of a block hold some terms; not there if its rows were
// removed.
type heldIn struct {
	cells []uint32
	there bool
}

// holding finds the cells of blocks that hold the terms of the query: by a few of
// them first, which leave hardly any cells of most blocks.
func (l *searchLane) holding(blocks []searchBlock) ([]heldIn, error) {
	first := l.terms.terms[:min(firstTerms, len(l.terms.terms))]
	found, err := l.holdingAll(blocks, first)
	rest := l.terms.terms[len(first):]
	if err != nil || len(rest) == 0 {
		return found, err
	}
	var many []int
	var ask []searchBlock
	for i := range found {
		if len(found[i].cells) > 0 {
			many, ask = append(many, i), append(ask, blocks[i])
		}
	}
	more, err := l.holdingAll(ask, rest)
	for k := range more {
		f := &found[many[k]]
		f.cells, f.there = inBoth(f.cells, more[k].cells), more[k].there
	}
	return found, err
}

// holdingAll finds the cells of blocks that hold some terms.
func (l *searchLane) holdingAll(blocks []searchBlock, terms []term) ([]heldIn, error) {
	if len(blocks) == 0 {
		return nil, nil
	}
	rows, err := l.readRows(blocks, terms)
	if err != nil {
		return nil, err
	}
	found := make([]heldIn, len(blocks))
	for i := range blocks {
		f, b := &found[i], &blocks[i]
		f.there = !slices.ContainsFunc(terms, func(t term) bool { return rows[b.rowOf(t)] == nil })
		switch {
		case !f.there:
		case l.terms.begin:
			f.cells, err = anyOf(b, rows, terms[0])
		default:
			f.cells, err = allOf(b, rows, terms)
		}
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// readRows reads the rows of blocks in which terms are.
func (l *searchLane) readRows(blocks []searchBlock, terms []term) (map[int64][]byte, error) {
	var ids []int64
	for i := range blocks {
		for _, t := range terms {
			ids = append(ids, blocks[i].rowOf(t))
		}
	}
	slices.Sort(ids)
	list, err := json.Marshal(slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	rows := make(map[int64][]byte, len(ids))
	const query = "SELECT r.id, r.terms FROM json_each(?) j CROSS JOIN search_row r ON r.id = j.value"
	err = l.st.rows(l.ctx, query, []any{string(list)}, func(row *sql.Rows) error {
		var id int64
		var data []byte
		err := row.Scan(&id, &data)
		rows[id] = data
		return err
	})
	return rows, err
}

// anyOf gives the cells that hold any of the terms that begin as one does.
func anyOf(b *searchBlock, rows map[int64][]byte, begin term) ([]uint32, error) {
	id := b.rowOf(begin)
	r := readTerms(rows[id], b.begin(id&(1<<blockRowBits-1)))
	var all []uint32
	var err error
	for r.next() {
		if r.term >= begin && r.term < begin+1<<fourthBit {
			if all, err = r.cells(all, uint32(b.span)); err != nil {
				return nil, err
			}
		}
	}
	if r.v.Bad {
		return nil, errPostings
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// allOf gives the cells that hold all of some terms.
func allOf(b *searchBlock, rows map[int64][]byte, terms []term) ([]uint32, error) {
	found := make([]termReader, 0, len(terms))
	for _, t := range terms {
		id := b.rowOf(t)
		r := readTerms(rows[id], b.begin(id&(1<<blockRowBits-1)))
		for r.next() && r.term < t {
		}
		if r.v.Bad {
			return nil, errPostings
		}
		if r.term != t || r.n == 0 {
			return nil, nil
		}
		found = append(found, r)
	}
	slices.SortFunc(found, func(a, b termReader) int { return int(a.n) - int(b.n) })
	var cells, scratch []uint32
	for i := range found {
		var err error
		switch bitmap, ok := found[i].bitmap(uint32(b.span)); {
		case i == 0:
			cells, err = found[i].cells(nil, uint32(b.span))
		case ok:
			cells = slices.DeleteFunc(cells, func(cell uint32) bool { return !hasBit(bitmap, cell) })
		default:
			scratch, err = found[i].cells(scratch[:0], uint32(b.span))
			cells = inBoth(cells, scratch)
		}
		if err != nil || len(cells) == 0 {
			return nil, err
		}
	}
	return cells, nil
}

// inBoth gives what is in two ascending lists, in place of the first.
func inBoth(a, b []uint32) []uint32 {
	kept := a[:0]
	for _, cell := range a {
		i, found := slices.BinarySearch(b, cell)
		if found {
			kept = append(kept, cell)
		}
		b = b[i:]
	}
	return kept
}
