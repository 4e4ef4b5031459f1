package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/retake-debugger/retake/transcript"
)

// searchState is the row of that name.
type searchState struct{ done, next, partOf, part int64 }

func (t *tx) searchState() (s searchState, err error) {
	err = t.st.row(context.Background(), "SELECT done, next, part_of, part FROM search_state", nil, &s.done, &s.next, &s.partOf, &s.part)
	return s, err
}

// PutTexts indexes a part of an exchange.
func (t *tx) PutTexts(p transcript.SearchTexts) (bool, error) {
	if err := t.open(); err != nil {
		return false, err
	}
	ok, err := t.putTexts(&p)
	if err != nil {
		return false, fmt.Errorf("index for search: %w", err)
	}
	return ok, nil
}

func (t *tx) putTexts(p *transcript.SearchTexts) (bool, error) {
	s, err := t.searchState()
	if err != nil || len(p.Exchanges) == 0 {
		return false, err
	}
	first := p.Exchanges[0].N
	if p.From > 0 && (s.partOf != first || s.part != int64(p.From)) {
		return false, nil
	}
	if all, err := t.haveAll(p.Exchanges); !all || err != nil { // some were pruned since they were read
		return false, err
	}
	for _, u := range p.Exchanges {
		if ok, err := t.begin(u.N, p.From, &s); !ok || err != nil {
			return false, err
		}
	}
	if p.From == 0 && s.partOf != 0 { // was broken off
		if err := t.dropTexts(s.partOf); err != nil {
			return false, err
		}
	}
	lane := int64(0)
	if first <= s.done { // out of the order of exchanges
		lane = 1
	}
	made, err := t.prepared(p)
	if err != nil {
		return false, err
	}
	for i := range p.Texts {
		if err := t.putText(&p.Texts[i], lane, s.next+made.texts[i], made.items[i]); err != nil {
			return false, err
		}
	}
	if err := t.putBlock(lane, s.next, made); err != nil {
		return false, err
	}
	s.next += made.block.span
	s.partOf, s.part = first, int64(p.From+len(p.Texts))
	if p.Last {
		err = t.end(p.Exchanges, &s)
	}
	if err == nil {
		_, err = t.st.exec("UPDATE search_state SET done = ?, next = ?, part_of = ?, part = ?", s.done, s.next, s.partOf, s.part)
	}
	return err == nil, err
}

// prepared gives what was prepared of texts, if the same of them are kept still.
func (t *tx) prepared(p *transcript.SearchTexts) (*preparedTexts, error) {
	if made, ok := p.Prepared.(*preparedTexts); ok {
		known, err := t.knownTexts(t.w.lookup, p.Texts)
		if err != nil || slices.Equal(known, made.known) {
			return made, err
		}
	}
	return t.w.prepareTexts(&t.reader, t.w.lookup, p)
}

// haveAll tells whether exchanges are still stored.
func (t *tx) haveAll(list []transcript.Unindexed) (bool, error) {
	numbers := make([]int64, len(list))
	for i, u := range list {
		numbers[i] = u.N
	}
	var stored int
	err := t.st.row(context.Background(), "SELECT count(*) FROM exchange WHERE n IN "+gone, []any{inJSON(numbers)}, &stored)
	return stored == len(list), err
}

// begin tells whether an exchange is to be indexed, and removes what is there of
// it already.
func (t *tx) begin(n int64, from int, s *searchState) (bool, error) {
	again := false
	if n <= s.done {
		var err error
		if again, err = t.exists("SELECT 1 FROM search_again WHERE exchange = ?", n); !again || err != nil {
			return false, err
		}
	}
	if from > 0 || !again {
		return true, nil
	}
	return true, t.dropTexts(n)
}

// end notes that exchanges are indexed.
func (t *tx) end(list []transcript.Unindexed, s *searchState) error {
	s.partOf, s.part = 0, 0
	for _, u := range list {
		s.done = max(s.done, u.N)
		if !u.Whole {
			continue
		}
		if _, err := t.st.exec("DELETE FROM search_again WHERE exchange = ?", u.N); err != nil {
			return err
		}
	}
	return nil
}

// putText stores one text, from a cell on, unless it is kept already.
func (t *tx) putText(text *transcript.SearchText, lane, cell int64, in []preparedItem) error {
	if len(text.Items) == 0 {
		return nil
	}
	first, last := text.Items[0].Exchange, text.Items[len(text.Items)-1].Exchange
	if last < first || last >= first+transcript.MostExchanges {
		return fmt.Errorf("a text of exchanges %d to %d", first, last)
	}
	var same any
	if text.Same != (transcript.Key{}) {
		key := t.w.lookup.key(findText, text.Same[:])
		known, err := t.placeAgain(&text.Items[0], key)
		if known || err != nil {
			return err
		}
		same = key
	}
	items, err := t.placed(text, lane, in)
	if err == nil {
		_, err = t.st.exec("INSERT INTO search_text (id, first, last, items, same) VALUES (?, ?, ?, ?, ?)", cell, first, last, packItems(items, first), same)
	}
	return err
}

// placeAgain notes that an exchange brings a text that is kept already, in the
// same cells.
func (t *tx) placeAgain(item *transcript.SearchItem, key int64) (known bool, err error) {
	var id, first, tool int64
	n := item.Exchange
	err = t.st.row(context.Background(), "SELECT id, first FROM search_text WHERE same = ?", []any{key}, &id, &first)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err == nil && first != n {
		tool, err = t.toolID(item.Tool)
	}
	if err == nil && first != n {
		_, err = t.st.exec("INSERT OR IGNORE INTO search_place (text, exchange, items) VALUES (?, ?, ?)",
			id, n, packItems([]packedItem{{SearchItem: *item, tool: tool}}, n))
	}
	return true, err
}

// DropTexts removes what the index holds of an exchange that is about to be
// removed.
func (t *tx) DropTexts(exchange string) error {
	if err := t.open(); err != nil {
		return err
	}
	var n int64
	err := t.st.row(context.Background(), "SELECT n FROM exchange WHERE id = ?", []any{packID(exchange)}, &n)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil {
		err = t.dropTextsOf([]int64{n})
	}
	if err != nil {
		return fmt.Errorf("drop texts of exchange %s: %w", exchange, err)
	}
	return nil
}

// dropTextsOf removes what the index holds of exchanges that are about to be
// removed. The oldest one that goes on from each is indexed once more, with the
// history that it resends, and so is the oldest that goes on from the same one, if
// nothing is left of that.
func (t *tx) dropTextsOf(numbers []int64) error {
	list, err := inJSON(numbers), t.dropTexts(numbers...)
	for _, query := range []string{
		"DELETE FROM search_again WHERE exchange IN " + gone,
		`INSERT OR IGNORE INTO search_again SELECT n FROM (
			SELECT (SELECT n FROM exchange WHERE parent = e.id AND n NOT IN ` + gone + ` ORDER BY n LIMIT 1) AS n
				FROM exchange e WHERE e.n IN ` + gone + `
			UNION SELECT (SELECT n FROM exchange WHERE parent = e.parent AND n NOT IN ` + gone + ` ORDER BY n LIMIT 1)
				FROM exchange e WHERE e.n IN ` + gone + ` AND NOT EXISTS (SELECT 1 FROM exchange WHERE id = e.parent AND n NOT IN ` + gone + `)
			) WHERE n IS NOT NULL`,
	} {
		if err == nil {
			_, err = t.st.exec(query, list)
		}
	}
	return err
}

// dropTexts removes what texts hold of exchanges, and texts of which nothing is
// left. One that others bring too becomes theirs.
func (t *tx) dropTexts(numbers ...int64) error {
	list := inJSON(numbers)
	var rows []keptText
	query := `SELECT id, first, items, same IS NOT NULL FROM search_text WHERE id IN (
		SELECT t.id FROM json_each(?1) n CROSS JOIN search_text t ON t.first BETWEEN n.value - ?2 AND n.value AND t.last >= n.value)`
	err := t.st.rows(context.Background(), query, []any{list, transcript.MostExchanges}, func(row *sql.Rows) error {
		var r keptText
		err := row.Scan(&r.id, &r.first, &r.items, &r.same)
		rows = append(rows, r)
		return err
	})
	if err == nil {
		_, err = t.st.exec("DELETE FROM search_place WHERE exchange IN "+gone, list)
	}
	for i := range rows {
		if err == nil {
			err = t.dropFrom(&rows[i], numbers)
		}
	}
	return err
}

// keptText is a row of search_text.
type keptText struct {
	id, first int64
	items     []byte
	same      bool
}

func (t *tx) dropFrom(r *keptText, numbers []int64) error {
	if r.same {
		if kept, err := t.handOn(r); kept || err != nil {
			return err
		}
	}
	items, _ := unpackItems(r.items, r.first)
	left := slices.DeleteFunc(slices.Clone(items), func(it packedItem) bool { return r.same || slices.Contains(numbers, it.Exchange) })
	var err error
	if len(left) == 0 {
		_, err = t.st.exec("DELETE FROM search_text WHERE id = ?", r.id)
	} else {
		first, last := left[0].Exchange, left[len(left)-1].Exchange
		_, err = t.st.exec("UPDATE search_text SET first = ?, last = ?, items = ? WHERE id = ?", first, last, packItems(left, first), r.id)
	}
	if err != nil {
		return err
	}
	lane := int64(0)
	if len(items) > 0 && items[0].again {
		lane = 1
	}
	return t.forget(lane, r.id, cellsOf(items)-cellsOf(left))
}

// cellsOf counts the cells of items in their order.
func cellsOf(items []packedItem) (n int64) {
	end := int64(0)
	for i := range items {
		from := max(items[i].cell, end)
		end = max(end, items[i].cell+items[i].cells)
		n += end - from
	}
	return n
}

// handOn makes a text that of the next exchange that brings it, if there is one.
func (t *tx) handOn(r *keptText) (bool, error) {
	var n int64
	var items []byte
	err := t.st.row(context.Background(), "SELECT exchange, items FROM search_place WHERE text = ? ORDER BY exchange LIMIT 1", []any{r.id}, &n, &items)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err == nil {
		mine, _ := unpackItems(r.items, r.first)
		theirs, unreadable := unpackItems(items, n)
		if unreadable != nil || len(mine) != 1 || len(theirs) != 1 {
			return false, nil
		}
		theirs[0].cell, theirs[0].cells, theirs[0].words, theirs[0].again = mine[0].cell, mine[0].cells, mine[0].words, mine[0].again
		_, err = t.st.exec("UPDATE search_text SET first = ?1, last = ?1, items = ?2 WHERE id = ?3", n, packItems(theirs, n), r.id)
	}
	if err == nil {
		_, err = t.st.exec("DELETE FROM search_place WHERE text = ? AND exchange = ?", r.id, n)
	}
	return err == nil, err
}

// DropAllTexts empties the index.
func (t *tx) DropAllTexts() error {
	if err := t.open(); err != nil {
		return err
	}
	var err error
	for _, query := range []string{"DELETE FROM search_row", "DELETE FROM search_block", "DELETE FROM search_text", "DELETE FROM search_place", "DELETE FROM search_tool", "DELETE FROM search_again",
		"UPDATE search_state SET done = 0, part_of = 0, part = 0"} {
		if err == nil {
			_, err = t.st.exec(query)
		}
	}
	if err != nil {
		return fmt.Errorf("empty search index: %w", err)
	}
	return nil
}
