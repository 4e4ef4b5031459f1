package search

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/retake-debugger/retake/transcript"
)

// state is the row of search_state.
type state struct{ done, next, partOf, part int64 }

func (x *Index) state() (s state, err error) {
	err = x.DB.Row(context.Background(), "SELECT done, next, part_of, part FROM search_state", nil, &s.done, &s.next, &s.partOf, &s.part)
	return s, err
}

// Put indexes exchanges, or a part of one.
func (x *Index) Put(p *transcript.SearchTexts) (bool, error) {
	ok, err := x.put(p)
	if err != nil {
		return false, fmt.Errorf("index for search: %w", err)
	}
	return ok, nil
}

func (x *Index) put(p *transcript.SearchTexts) (bool, error) {
	s, err := x.state()
	if err != nil || len(p.Exchanges) == 0 {
		return false, err
	}
	if ok, err := x.begins(p, &s); !ok || err != nil {
		return false, err
	}
	if p.From == 0 && s.partOf != 0 { // interrupted
		if err := x.dropRows(s.partOf); err != nil {
			return false, err
		}
	}
	if err := x.makeTables(p); err != nil {
		return false, err
	}
	first := p.Exchanges[0].N
	again := first <= s.done
	for i := range p.Texts {
		if err := x.putText(&p.Texts[i], &s, again); err != nil {
			return false, err
		}
	}
	s.partOf, s.part = first, int64(p.From+len(p.Texts))
	if p.Last {
		err = x.end(p.Exchanges, &s)
	}
	if err == nil {
		_, err = x.DB.Exec("UPDATE search_state SET done = ?, next = ?, part_of = ?, part = ?", s.done, s.next, s.partOf, s.part)
	}
	return err == nil, err
}

// begins reports whether these texts are next: their exchanges are not indexed yet, and
// of a part all before it is.
func (x *Index) begins(p *transcript.SearchTexts, s *state) (bool, error) {
	if p.From > 0 && (s.partOf != p.Exchanges[0].N || s.part != int64(p.From)) {
		return false, nil
	}
	if all, err := x.haveAll(p.Exchanges); !all || err != nil { // some were pruned since they were read
		return false, err
	}
	for _, u := range p.Exchanges {
		if ok, err := x.begin(u.N, p.From, s); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// makeTables creates the tables of FTS5 if they are missing.
func (x *Index) makeTables(p *transcript.SearchTexts) error {
	ok, err := available(context.Background(), x.DB)
	if err == nil && !ok {
		return transcript.ErrNoIndex
	}
	if err != nil || len(p.Texts) == 0 {
		return err
	}
	if ok, err := made(context.Background(), x.DB); ok || err != nil {
		return err
	}
	return createTables(x.DB)
}

// haveAll reports whether exchanges are still stored.
func (x *Index) haveAll(list []transcript.Unindexed) (bool, error) {
	numbers := make([]int64, len(list))
	for i, u := range list {
		numbers[i] = u.N
	}
	var stored int
	err := x.DB.Row(context.Background(), "SELECT count(*) FROM exchange WHERE n IN "+listed, []any{inJSON(numbers)}, &stored)
	return stored == len(list), err
}

// begin reports whether an exchange is to be indexed, and removes its former texts.
func (x *Index) begin(n int64, from int, s *state) (bool, error) {
	again := false
	if n <= s.done {
		err := x.DB.Row(context.Background(), "SELECT EXISTS (SELECT 1 FROM search_again WHERE exchange = ?)", []any{n}, &again)
		if !again || err != nil {
			return false, err
		}
	}
	if from > 0 || !again {
		return true, nil
	}
	return true, x.dropRows(n)
}

// end records that exchanges are indexed.
func (x *Index) end(list []transcript.Unindexed, s *state) error {
	s.partOf, s.part = 0, 0
	for _, u := range list {
		s.done = max(s.done, u.N)
		if !u.Whole {
			continue
		}
		if _, err := x.DB.Exec("DELETE FROM search_again WHERE exchange = ?", u.N); err != nil {
			return err
		}
	}
	return nil
}

// putText stores the row of one text. A shared text that is there already only gets
// another place.
func (x *Index) putText(text *transcript.SearchText, s *state, again bool) error {
	if len(text.Items) == 0 {
		return nil
	}
	first, last := text.Items[0].Exchange, text.Items[len(text.Items)-1].Exchange
	if last < first || last >= first+transcript.MostExchanges {
		return fmt.Errorf("a text of exchanges %d to %d", first, last)
	}
	var same any
	if text.Same != (transcript.Key{}) {
		key := x.Key(text.Same)
		known, err := x.placeAgain(&text.Items[0], key)
		if known || err != nil {
			return err
		}
		same = key
	}
	items, err := x.placed(text)
	if err != nil {
		return err
	}
	id := s.next
	s.next++
	if again {
		id += againFrom
	}
	_, err = x.DB.Exec("INSERT INTO search_text (id, first, last, items, same) VALUES (?, ?, ?, ?, ?)", id, first, last, packItems(items, first), same)
	said := folded(text)
	if err == nil && !text.Words {
		_, err = x.DB.Exec("INSERT INTO search_terms (rowid, text) VALUES (?, ?)", id, rowText(said))
	}
	if err == nil && !text.Part {
		_, err = x.DB.Exec("INSERT INTO search_words (rowid, text) VALUES (?, ?)", id, rowWords(said))
	}
	return err
}

// placeAgain records that another exchange introduces a shared text. It reports whether
// the text is there.
func (x *Index) placeAgain(item *transcript.SearchItem, key int64) (known bool, err error) {
	var id, first, tool int64
	n := item.Exchange
	err = x.DB.Row(context.Background(), "SELECT id, first FROM search_text WHERE same = ?", []any{key}, &id, &first)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err == nil && first != n {
		tool, err = x.toolID(item.Tool)
	}
	if err == nil && first != n {
		_, err = x.DB.Exec("INSERT OR IGNORE INTO search_place (text, exchange, items) VALUES (?, ?, ?)",
			id, n, packItems([]packedItem{{SearchItem: *item, tool: tool}}, n))
	}
	return true, err
}

// Drop removes the texts of exchanges that are about to be removed. Their histories stay
// searchable: the oldest exchange that continues each is indexed once more, with all
// that it resends. So is the oldest that continues the same parent, if that is gone.
func (x *Index) Drop(numbers []int64) error {
	list, err := inJSON(numbers), x.dropRows(numbers...)
	for _, query := range []string{
		"DELETE FROM search_again WHERE exchange IN " + listed,
		`INSERT OR IGNORE INTO search_again SELECT n FROM (
			SELECT (SELECT n FROM exchange WHERE parent = e.id AND n NOT IN ` + listed + ` ORDER BY n LIMIT 1) AS n
				FROM exchange e WHERE e.n IN ` + listed + `
			UNION SELECT (SELECT n FROM exchange WHERE parent = e.parent AND n NOT IN ` + listed + ` ORDER BY n LIMIT 1)
				FROM exchange e WHERE e.n IN ` + listed + ` AND NOT EXISTS (SELECT 1 FROM exchange WHERE id = e.parent AND n NOT IN ` + listed + `)
			) WHERE n IS NOT NULL`,
	} {
		if err == nil {
			_, err = x.DB.Exec(query, list)
		}
	}
	return err
}

// dropRows removes the items of exchanges from their rows, and rows without items. A
// shared text goes to the next exchange that introduces it.
func (x *Index) dropRows(numbers ...int64) error {
	list := inJSON(numbers)
	var rows []keptText
	query := `SELECT id, first, items, same IS NOT NULL FROM search_text WHERE id IN (
		SELECT t.id FROM json_each(?1) n CROSS JOIN search_text t ON t.first BETWEEN n.value - ?2 AND n.value AND t.last >= n.value)`
	err := x.DB.Rows(context.Background(), query, []any{list, transcript.MostExchanges}, func(row *sql.Rows) error {
		var r keptText
		err := row.Scan(&r.id, &r.first, &r.items, &r.same)
		rows = append(rows, r)
		return err
	})
	if err == nil {
		_, err = x.DB.Exec("DELETE FROM search_place WHERE exchange IN "+listed, list)
	}
	for i := range rows {
		if err == nil {
			err = x.dropFrom(&rows[i], numbers)
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

func (x *Index) dropFrom(r *keptText, numbers []int64) error {
	if r.same {
		if kept, err := x.handOn(r); kept || err != nil {
			return err
		}
	}
	items, _ := unpackItems(r.items, r.first)
	left := slices.DeleteFunc(slices.Clone(items), func(it packedItem) bool { return r.same || slices.Contains(numbers, it.Exchange) })
	if len(left) > 0 {
		first, last := left[0].Exchange, left[len(left)-1].Exchange
		_, err := x.DB.Exec("UPDATE search_text SET first = ?, last = ?, items = ? WHERE id = ?", first, last, packItems(left, first), r.id)
		return err
	}
	_, err := x.DB.Exec("DELETE FROM search_text WHERE id = ?", r.id)
	if err == nil { // Tidy removes the terms
		_, err = x.DB.Exec("INSERT OR IGNORE INTO search_gone (id) VALUES (?)", r.id)
	}
	return err
}

// handOn gives a shared text to the next exchange that introduces it, if there is one.
func (x *Index) handOn(r *keptText) (bool, error) {
	var n int64
	var items []byte
	err := x.DB.Row(context.Background(), "SELECT exchange, items FROM search_place WHERE text = ? ORDER BY exchange LIMIT 1", []any{r.id}, &n, &items)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err == nil {
		mine, _ := unpackItems(r.items, r.first)
		theirs, unreadable := unpackItems(items, n)
		if unreadable != nil || len(mine) != 1 || len(theirs) != 1 {
			return false, nil
		}
		theirs[0].words = mine[0].words
		_, err = x.DB.Exec("UPDATE search_text SET first = ?1, last = ?1, items = ?2 WHERE id = ?3", n, packItems(theirs, n), r.id)
	}
	if err == nil {
		_, err = x.DB.Exec("DELETE FROM search_place WHERE text = ? AND exchange = ?", r.id, n)
	}
	return err == nil, err
}
