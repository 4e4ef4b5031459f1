package store

import (
	"context"
	"fmt"

	"github.com/retake-debugger/retake/transcript"
)

// preparedTexts is what is done of indexing texts before the transaction that stores
// them, so that others can write meanwhile: a block of their terms.
type preparedTexts struct {
	known []bool // texts that are kept already; nothing was prepared of them
	items [][]preparedItem
	texts []int64 // first cell of each text in the block
	block searchBlock
	rows  []byte
	ends  []int // of each row in rows
}

// preparedItem says in which cells of its text an item is.
type preparedItem struct{ cell, cells int64 }

// PrepareTexts does of PutTexts what needs no transaction.
func (db *DB) PrepareTexts(ctx context.Context, p *transcript.SearchTexts) error {
	if db.w == nil {
		return errReadOnly
	}
	keys := &lookup{}
	err := db.st.row(ctx, "SELECT salt FROM state", nil, &keys.salt)
	var made *preparedTexts
	if err == nil {
		made, err = db.w.prepareTexts(&db.reader, keys, p)
	}
	if err != nil {
		return fmt.Errorf("prepare texts for search: %w", err)
	}
	p.Prepared = made
	return nil
}

// prepareTexts is called with and without a transaction.
func (w *writer) prepareTexts(r *reader, keys *lookup, p *transcript.SearchTexts) (*preparedTexts, error) {
	made := &preparedTexts{items: make([][]preparedItem, len(p.Texts)), texts: make([]int64, len(p.Texts))}
	var err error
	if made.known, err = r.knownTexts(keys, p.Texts); err != nil {
		return nil, err
	}
	c := w.cellTerms(p.Bytes())
	defer w.keepTerms(c)
	for i := range p.Texts {
		made.texts[i] = int64(c.end())
		if !made.known[i] {
			made.items[i] = c.addText(&p.Texts[i])
		}
	}
	made.fill(c)
	return made, nil
}

// knownTexts tells which texts are kept already, or come before among these.
func (r *reader) knownTexts(keys *lookup, texts []transcript.SearchText) ([]bool, error) {
	known := make([]bool, len(texts))
	here := map[transcript.Key]bool{}
	for i := range texts {
		same := texts[i].Same
		if same == (transcript.Key{}) {
			continue
		}
		var stored bool
		err := r.st.row(context.Background(), "SELECT EXISTS (SELECT 1 FROM search_text WHERE same = ?)", []any{keys.key(findText, same[:])}, &stored)
		if err != nil {
			return nil, err
		}
		known[i], here[same] = stored || here[same], true
	}
	return known, nil
}

// addText adds the items of a text, in cells of its own.
func (c *cellTerms) addText(text *transcript.SearchText) []preparedItem {
	out := make([]preparedItem, len(text.Items))
	begin, add := c.end(), c.addItem
	if text.Words {
		add = c.addWordsAlone
	}
	for i := range text.Items {
		first, n := add(transcript.Fold(text.Items[i].Text))
		out[i] = preparedItem{int64(first - begin), int64(n)}
	}
	c.end()
	return out
}

// termsInRow: in a block of few cells with very many terms a row has about so many.
const termsInRow = 2000

// fill makes the rows of the block.
func (p *preparedTexts) fill(c *cellTerms) {
	cells := int64(c.end())
	if cells == 0 {
		return
	}
	all := c.sorted()
	p.block = searchBlock{span: cells, rows: rowsFor(max(cells, int64(len(all))/termsInRow)), made: cells, live: cells}
	w := rowWriter{block: &p.block, insert: func(_ int64, row []byte) error {
		p.rows = append(p.rows, row...)
		p.ends = append(p.ends, len(p.rows))
		return nil
	}}
	var list []uint32
	for i, v := range all {
		list = append(list, uint32(v))
		if i == len(all)-1 || all[i+1]>>32 != v>>32 {
			_ = w.put(term(v>>32), list) // what insert says
			list = list[:0]
		}
	}
	_ = w.upTo(p.block.rows)
}

// putBlock stores the block that was prepared, from a cell on.
func (t *tx) putBlock(lane, first int64, p *preparedTexts) error {
	if p.block.span == 0 {
		return nil
	}
	b := p.block
	b.lane, b.first = lane, first
	err := t.addBlock(&b, blockAsked)
	from := 0
	for row, end := range p.ends {
		if err == nil {
			err = t.insertRow(&b, int64(row), p.rows[from:end])
		}
		from = end
	}
	return err
}
