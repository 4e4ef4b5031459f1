package store

import (
	"context"
	"fmt"
)

const (
	// mergeNote is there while deleted texts wait to leave the search index.
	mergeNote = "prune_search"
	// mergeShare: when one exchange in so many goes, the whole index is written
	// anew step by step. FTS5 would do that by itself in a few long steps, again
	// and again.
	mergeShare = 8
	mergePages = 64 // of the index, written in one transaction
	// deleteMerge is the share of deleted entries, in percent, from which on FTS5
	// writes a part of its index anew.
	deleteMerge = 10
)

// holdSearch keeps FTS5 from merging while many exchanges go.
func (p *pruning) holdSearch(plan *Plan) error {
	able, made, err := p.db.hasIndex(p.ctx)
	if err != nil || !able || !made || int64(len(plan.Numbers))*mergeShare < plan.Total || len(plan.Numbers) == 0 {
		return err
	}
	return p.change(func(t *tx) error {
		if err := t.setIndex("deletemerge", 0); err != nil {
			return err
		}
		return t.SetNote(mergeNote, "1")
	})
}

// mergeSearch writes the index anew, if that was put off.
func (p *pruning) mergeSearch() error {
	able, made, err := p.db.hasIndex(p.ctx)
	if err != nil || !able || !made {
		return err
	}
	put, err := p.db.Note(p.ctx, mergeNote)
	if err != nil || put == "" {
		return err
	}
	pages := -mergePages // the first step begins to merge all there is
	for done := int64(1); ; done++ {
		var before, after int64
		err := p.change(func(t *tx) error {
			if err := t.st.row(context.Background(), "SELECT total_changes()", nil, &before); err != nil {
				return err
			}
			if err := t.setIndex("merge", pages); err != nil {
				return err
			}
			return t.st.row(context.Background(), "SELECT total_changes()", nil, &after)
		})
		if err != nil {
			return err
		}
		p.progress(PruneProgress{"search", done, 0})
		if pages = mergePages; after-before < 2 { // as sqlite.org/fts5.html, section 6.8, tells the end
			break
		}
	}
	return p.change(func(t *tx) error {
		if err := t.setIndex("deletemerge", deleteMerge); err != nil {
			return err
		}
		return t.SetNote(mergeNote, "")
	})
}

// setIndex gives FTS5 a command.
func (t *tx) setIndex(command string, value int) error {
	if _, err := t.st.exec("INSERT INTO search_term (search_term, rank) VALUES (?, ?)", command, value); err != nil {
		return fmt.Errorf("%s search index: %w", command, err)
	}
	return nil
}
