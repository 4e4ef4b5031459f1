package store

import (
	"context"
	"database/sql"
	"fmt"
	"math/bits"
)

// searchBlock is a row of search_block.
type searchBlock struct {
	id, lane, first, span int64
	rows                  int64
	made, live            int64
	done                  int64
}

const (
	blockMaking = 0
	blockAsked  = 1
	blockGone   = 2

	blockRowBits = 16 // of the id of a row, behind the block's
	leastRows    = 16
)

// rowsFor says in how many rows to put the terms of so many cells: they are to
// have about a kilobyte each, since each is read as a whole, and a page holds but
// whole ones.
func rowsFor(cells int64) int64 {
	return min(max(leastRows, int64(1)<<bits.Len64(uint64(cells)/2)), 1<<blockRowBits)
}

func (b *searchBlock) end() int64 { return b.first + b.span }

// shift is how far the number of a row is down in its terms.
func (b *searchBlock) shift() int { return termBits - bits.TrailingZeros64(uint64(b.rows)) }

// rowOf gives the id of the row in which a term is.
func (b *searchBlock) rowOf(t term) int64 { return b.id<<blockRowBits | int64(t)>>b.shift() }

// begin gives the first term that a row can hold.
func (b *searchBlock) begin(row int64) term { return term(row << b.shift()) }

// searchBlocks lists the blocks that are in a state, in the order of their cells.
func (r *reader) searchBlocks(ctx context.Context, state int) (list []searchBlock, err error) {
	const query = "SELECT id, lane, first, span, rows, made, live, done FROM search_block WHERE state = ? ORDER BY first"
	err = r.st.rows(ctx, query, []any{state}, func(row *sql.Rows) error {
		var b searchBlock
		err := row.Scan(&b.id, &b.lane, &b.first, &b.span, &b.rows, &b.made, &b.live, &b.done)
		if err == nil && (b.rows < 1 || b.rows > 1<<blockRowBits || b.rows&(b.rows-1) != 0 || b.span < 1 || b.span > mostSpan) {
			err = fmt.Errorf("block %d: %w", b.id, errPostings)
		}
		list = append(list, b)
		return err
	})
	return list, err
}

// addBlock makes a block in a state, without its rows.
func (t *tx) addBlock(b *searchBlock, state int) error {
	const query = "INSERT INTO search_block (lane, first, span, rows, made, live, state, done) VALUES (?, ?, ?, ?, ?, ?, ?, 0) RETURNING id"
	return t.st.row(context.Background(), query, []any{b.lane, b.first, b.span, b.rows, b.made, b.live, state}, &b.id)
}

// insertRow stores the terms of one row of a block.
func (t *tx) insertRow(b *searchBlock, row int64, terms []byte) error {
	return t.st.run("INSERT INTO search_row (id, terms) VALUES (?, ?)", b.id<<blockRowBits|row, terms)
}

// rowWriter makes the rows of a block, of terms that come in their order.
type rowWriter struct {
	block  *searchBlock
	insert func(row int64, terms []byte) error // terms are written over later
	row    int64                               // is being filled
	last   term                                // in it
	data   []byte
	bits   bitWriter
}

// writeRows writes the rows of a block from one on.
func writeRows(t *tx, b *searchBlock, row int64) *rowWriter {
	insert := func(row int64, terms []byte) error { return t.insertRow(b, row, terms) }
	return &rowWriter{block: b, insert: insert, row: row, last: b.begin(row), data: make([]byte, 0, 4096)}
}

func (w *rowWriter) put(t term, cells []uint32) error {
	if err := w.upTo(int64(t) >> w.block.shift()); err != nil {
		return err
	}
	w.data = appendTerm(w.data, t-w.last, cells, uint32(w.block.span), &w.bits)
	w.last = t
	return nil
}

// upTo writes the rows before one. Those without terms are there, too: where one
// is missing, the block was removed.
func (w *rowWriter) upTo(row int64) error {
	for w.row < row {
		if err := w.insert(w.row, w.data); err != nil {
			return err
		}
		w.row++
		w.data, w.last = w.data[:0], w.block.begin(w.row)
	}
	return nil
}

// forget counts cells of a text that hold nothing any more. Blocks of the two lanes
// may lie across each other.
func (t *tx) forget(lane, text, cells int64) error {
	const query = `UPDATE search_block SET live = max(live - ?1, 0)
		WHERE id = (SELECT id FROM search_block WHERE state = 1 AND first <= ?2 AND first + span > ?2 ORDER BY lane = ?3 DESC LIMIT 1)`
	_, err := t.st.exec(query, cells, text, lane)
	return err
}
