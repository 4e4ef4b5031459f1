package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/retake-debugger/retake/store/varint"
)

// What is indexed at once is a block, of which a search asks every one. Blocks that
// follow each other are joined to larger ones, step by step, so that there are few:
// every cell is written about three times in all.
const (
	smallCells = 1 << 10 // blocks with fewer are joined first
	fullCells  = 1 << 14 // a block has at most
	mostSpan   = 4 * fullCells
	fewBlocks  = 4  // so many small ones are joined when there is nothing else to do
	manyBlocks = 16 // and so many in any case

	joinBytes  = 16 << 10 // about how much is read and written at once, so that it takes little memory
	cellStored = 700      // bytes that the terms of a cell take
	dropRows   = 256      // are removed at once
)

// TidyTexts takes a step in joining blocks, or in removing what is of no use any
// more.
func (t *tx) TidyTexts(thorough bool) (more bool, err error) {
	if err := t.open(); err != nil {
		return false, err
	}
	for _, step := range []func(bool) (bool, error){t.dropGone, t.goOnJoining, t.beginJoining} {
		if more, err = step(thorough); more || err != nil {
			break
		}
	}
	if err != nil {
		return false, fmt.Errorf("tidy search index: %w", err)
	}
	return more, nil
}

// dropGone removes rows of blocks that are of no use, and a block with its last
// ones.
func (t *tx) dropGone(bool) (bool, error) {
	gone, err := t.searchBlocks(context.Background(), blockGone)
	if err != nil || len(gone) == 0 {
		return false, err
	}
	for i := range gone {
		const query = "DELETE FROM search_row WHERE id IN (SELECT id FROM search_row WHERE id BETWEEN ? AND ? LIMIT ?)"
		for n, from := int64(dropRows), gone[i].id<<blockRowBits; n == dropRows; {
			result, err := t.st.exec(query, from, from|(1<<blockRowBits-1), dropRows)
			if err == nil {
				n, err = result.RowsAffected()
			}
			if err != nil || t.enough() {
				return true, err
			}
		}
		if _, err = t.st.exec("DELETE FROM search_block WHERE id = ?", gone[i].id); err != nil {
			return true, err
		}
	}
	return true, nil
}

// beginJoining begins to put together blocks.
func (t *tx) beginJoining(thorough bool) (bool, error) {
	all, err := t.searchBlocks(context.Background(), blockAsked)
	if err != nil {
		return false, err
	}
	for _, b := range all {
		if b.live == 0 {
			_, err := t.st.exec("UPDATE search_block SET state = 2 WHERE id = ?", b.id)
			return true, err
		}
	}
	list := toJoin(all, thorough)
	if len(list) == 0 {
		return false, nil
	}
	b := joined(list)
	return true, t.addBlock(&b, blockMaking)
}

// toJoin picks blocks that follow each other in their lane and are to be one. Those
// of the other lane may lie between them.
func toJoin(all []searchBlock, thorough bool) []searchBlock {
	least := manyBlocks
	if thorough {
		least = fewBlocks
	}
	for lane := range int64(2) {
		var list []searchBlock
		for _, b := range all {
			if b.lane == lane {
				list = append(list, b)
			}
		}
		if found := toJoinBelow(list, smallCells, least); found != nil {
			return found
		}
		for len(list) > 0 && list[len(list)-1].live < smallCells { // more will come behind them
			list = list[:len(list)-1]
		}
		if found := toJoinBelow(list, fullCells, manyBlocks); found != nil {
			return found
		}
	}
	for i := range all {
		if thorough && 2*all[i].live < all[i].made {
			return all[i : i+1]
		}
	}
	return nil
}

// toJoinBelow picks blocks, each with less than enough cells, that have enough
// together, or are many. None is made too large for that.
func toJoinBelow(list []searchBlock, enough int64, many int) []searchBlock {
	for i := 0; i < len(list); i++ {
		n, live, full := 0, int64(0), false
		for _, b := range list[i:] {
			if b.live >= enough {
				break
			}
			if full = live+b.live > fullCells || b.end()-list[i].first > mostSpan; full {
				break
			}
			if n, live = n+1, live+b.live; live >= enough {
				break
			}
		}
		if n >= 2 && (live >= enough || full || n >= many) {
			return list[i : i+n]
		}
		i += max(n-1, 0)
	}
	return nil
}

// joined tells of what is made of blocks.
func joined(list []searchBlock) searchBlock {
	b := searchBlock{lane: list[0].lane, first: list[0].first, span: list[len(list)-1].end() - list[0].first}
	for i := range list {
		b.live += list[i].live
	}
	b.made, b.rows = b.live, rowsFor(b.live)
	return b
}

// goOnJoining writes the next rows of the block that is being put together. With
// the last of them it takes the place of those that it is made of.
func (t *tx) goOnJoining(bool) (bool, error) {
	making, err := t.searchBlocks(context.Background(), blockMaking)
	if err != nil || len(making) == 0 {
		return false, err
	}
	b := &making[0]
	all, err := t.searchBlocks(context.Background(), blockAsked)
	if err != nil {
		return false, err
	}
	of := slices.DeleteFunc(all, func(o searchBlock) bool { return o.lane != b.lane || o.first < b.first || o.end() > b.end() })
	if len(of) == 0 {
		_, err = t.st.exec("UPDATE search_block SET state = 2 WHERE id = ?", b.id)
		return true, err
	}
	done, err := t.joinRows(b, of)
	if err != nil {
		return false, err
	}
	if done < b.rows {
		_, err = t.st.exec("UPDATE search_block SET done = ? WHERE id = ?", done, b.id)
		return true, err
	}
	live := joined(of).live
	for i := range of {
		if _, err := t.st.exec("UPDATE search_block SET state = 2 WHERE id = ?", of[i].id); err != nil {
			return false, err
		}
	}
	_, err = t.st.exec("UPDATE search_block SET state = 1, done = ?, live = ?, made = ? WHERE id = ?", done, live, live, b.id)
	return true, err
}

// joining collects terms of blocks that become one.
type joining struct {
	into  *searchBlock
	of    []searchBlock
	found []postings
	block []int    // of, of each that was found
	order []uint64 // term<<32 | index in found
	spare []uint64 // to sort with
	live  bitset   // cells of into; nil if all live
	cells []uint32
}

// joinRows writes the next rows of a block, of what others have, and says up to
// which there was time.
func (t *tx) joinRows(b *searchBlock, of []searchBlock) (done int64, err error) {
	j := joining{into: b, of: of}
	if j.live, err = t.liveCells(b, of); err != nil {
		return 0, err
	}
	w := writeRows(t, b, b.done)
	few := max(1, b.rows*joinBytes/(max(1, b.made)*cellStored))
	for done = b.done; done < b.rows && (done == b.done || !t.enough()); {
		from := done
		done = min(from+few, b.rows)
		j.found, j.block, j.order = j.found[:0], j.block[:0], j.order[:0]
		for i := range of {
			if err := t.readTerms(&j, i, b.begin(from), b.begin(done)); err != nil {
				return 0, err
			}
		}
		if err := errors.Join(j.write(w), w.upTo(done)); err != nil {
			return 0, err
		}
	}
	return done, nil
}

// write writes what was found.
func (j *joining) write(w *rowWriter) error {
	j.order, j.spare = sortTerms(j.order, j.spare)
	for i, v := range j.order {
		if err := j.add(int(uint32(v))); err != nil {
			return err
		}
		if i < len(j.order)-1 && j.order[i+1]>>32 == v>>32 {
			continue
		}
		if len(j.cells) > 0 {
			if err := w.put(term(v>>32), j.cells); err != nil {
				return err
			}
		}
		j.cells = j.cells[:0]
	}
	return nil
}

// readTerms finds the terms of a block from one on, up to another.
func (t *tx) readTerms(j *joining, block int, begin, end term) error {
	o := &j.of[block]
	const query = "SELECT id, terms FROM search_row WHERE id BETWEEN ? AND ?"
	first, last, n := o.rowOf(begin), o.rowOf(end-1), int64(0)
	err := t.st.rows(context.Background(), query, []any{first, last}, func(row *sql.Rows) error {
		n++
		var id int64
		var data []byte
		if err := row.Scan(&id, &data); err != nil {
			return err
		}
		r := readTerms(data, o.begin(id&(1<<blockRowBits-1)))
		for r.next() {
			if r.term >= begin && r.term < end {
				j.order = append(j.order, uint64(r.term)<<32|uint64(len(j.found)))
				j.found, j.block = append(j.found, r.postings), append(j.block, block)
			}
		}
		if r.v.Bad {
			return errPostings
		}
		return nil
	})
	if err == nil && n != last-first+1 {
		err = fmt.Errorf("block %d: %w", o.id, errPostings)
	}
	return err
}

// add adds the cells of what was found, as the block that it becomes part of
// counts them, that live.
func (j *joining) add(i int) error {
	o, from := &j.of[j.block[i]], len(j.cells)
	behind := uint32(o.first - j.into.first)
	var err error
	if j.cells, err = j.found[i].cells(j.cells, uint32(o.span)); err != nil {
		return err
	}
	kept := j.cells[:from]
	for _, cell := range j.cells[from:] {
		if cell += behind; j.live == nil || o.live == o.made || j.live.has(int64(cell)) {
			kept = append(kept, cell)
		}
	}
	j.cells = kept
	return nil
}

// liveCells tells which cells hold something of those that are joined in a block,
// as that counts them; nil if all do.
func (t *tx) liveCells(b *searchBlock, of []searchBlock) (bitset, error) {
	var live bitset
	for i := range of {
		o := &of[i]
		if o.live == o.made {
			continue
		}
		if live == nil {
			live = bitset{}
		}
		const query = "SELECT id, first, items FROM search_text WHERE id BETWEEN ? AND ?"
		err := t.st.rows(context.Background(), query, []any{o.first, o.end() - 1}, func(row *sql.Rows) error {
			var id, first int64
			var items sql.RawBytes
			if err := row.Scan(&id, &first, &items); err != nil {
				return err
			}
			r := itemReader{v: varint.Reader{B: items}, exchange: first}
			for r.next() {
				for cell := range r.cells {
					live.add(id - b.first + r.cell + cell)
				}
			}
			if r.v.Bad {
				return fmt.Errorf("text %d: %w", id, errItems)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return live, nil
}
