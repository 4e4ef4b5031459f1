package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// FTS5 keeps what was indexed at different times in segments, of which a query
// asks every one for each of its terms. It joins some by itself, but leaves a few
// of each size; all in one are asked about twice as fast. Joining rewrites the
// whole index, so it is done when that has grown by half since the last time, in
// steps that are as short as what else the indexer writes.
const (
	tidyNote  = "search tidy" // up to which text they were joined; with a "+" behind they are being joined
	tidyLeast = 512           // fewer texts are not worth it
	tidyPages = 32            // of 4 KB that a step writes
)

// TidyTexts takes a step in joining the segments of the index.
func (t *tx) TidyTexts() (more bool, err error) {
	if err := t.open(); err != nil {
		return false, err
	}
	able, made, err := t.hasIndex(context.Background())
	if err == nil && able && made {
		more, err = t.tidyTexts()
	}
	if err != nil {
		return false, fmt.Errorf("tidy search index: %w", err)
	}
	return more, nil
}

func (t *tx) tidyTexts() (bool, error) {
	note, err := t.Note(context.Background(), tidyNote)
	if err != nil {
		return false, err
	}
	number, begun := strings.CutSuffix(note, "+")
	joined, _ := strconv.ParseInt(number, 10, 64)
	if begun {
		wrote, err := t.mergeTerms(tidyPages)
		if wrote || err != nil {
			return wrote, err
		}
		return false, t.SetNote(tidyNote, number)
	}
	s, err := t.searchState()
	if err != nil || s.next-joined < max(tidyLeast, joined/2) {
		return false, err
	}
	if _, err = t.mergeTerms(-tidyPages); err == nil { // from now on all segments count as of one size
		err = t.SetNote(tidyNote, strconv.FormatInt(s.next, 10)+"+")
	}
	return err == nil, err
}

// mergeTerms lets FTS5 write so many pages of joined segments, and tells whether
// there was anything to write (sqlite.org/fts5.html, the 'merge' command).
func (t *tx) mergeTerms(pages int) (wrote bool, err error) {
	var before, after int64
	const changes = "SELECT total_changes()"
	if err = t.st.row(context.Background(), changes, nil, &before); err == nil {
		_, err = t.st.exec("INSERT INTO search_term (search_term, rank) VALUES ('merge', ?)", pages)
	}
	if err == nil {
		err = t.st.row(context.Background(), changes, nil, &after)
	}
	return after-before >= 2, err
}
