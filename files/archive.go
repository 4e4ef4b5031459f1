package files

import (
	"errors"
	"fmt"
	"slices"

	"github.com/retake-debugger/retake/formats"
	"github.com/retake-debugger/retake/ingest/reindex"
	"github.com/retake-debugger/retake/transcript"
)

// archive imports an archive: its exchanges, then what users said about them.
func (im *importing) archive(s *formats.Source) error {
	did := im.did
	var links []formats.Linked
	var said []*formats.Said
	err := formats.ReadArchive(s,
		func(c *transcript.Capture, l formats.Linked) error {
			if err := im.ctx.Err(); err != nil {
				return err
			}
			links = append(links, l)
			return im.add(c)
		},
		func(s *formats.Said) error {
			said = append(said, s)
			return nil
		})
	if err == nil {
		err = im.commit()
	}
	if err != nil {
		return err
	}
	for _, s := range said {
		if err := im.said(s); err != nil && !errors.Is(err, transcript.ErrNotFound) {
			return fmt.Errorf("import what users said: %w", err)
		}
	}
	did.runs = runList{} // overrides may have moved some
	for _, l := range links {
		e, err := im.Store.Exchange(im.ctx, l.Exchange)
		if err != nil {
			return err
		}
		if e.Link.Parent != l.Parent || e.Link.By != l.By {
			did.Otherwise++
		}
		did.runs.add(e.Link.Run)
	}
	did.Runs = len(did.runs.list)
	return nil
}

// said stores what users said, unless something else is stored already.
func (im *importing) said(s *formats.Said) error {
	switch {
	case s.Marks != nil:
		return im.marks(s)
	case s.Override != nil:
		return im.override(s)
	}
	return im.takeOf(s.Take)
}

// takeOf stores a take, and links its exchanges to where they left the original.
func (im *importing) takeOf(t *transcript.Take) error {
	var sent []string
	for _, s := range t.Steps {
		sent = append(sent, s.Exchange)
	}
	takes, err := im.Store.Takes(im.ctx, t.Last())
	if err != nil || slices.ContainsFunc(takes, func(here transcript.Take) bool { return here.ID == t.ID }) {
		return err
	}
	if err := im.Store.Update(im.ctx, func(tx transcript.Tx) error { return tx.PutTake(t) }); err != nil {
		return err
	}
	_, err = reindex.Relink(im.ctx, im.Store, sent...)
	return err
}

func (im *importing) marks(s *formats.Said) error {
	e, err := im.Store.Exchange(im.ctx, s.Exchange)
	if err != nil {
		return err
	}
	now, err := im.Store.Marks(im.ctx, e.Link.Run)
	if err != nil || !now.IsZero() {
		return err
	}
	return im.Store.Update(im.ctx, func(tx transcript.Tx) error { return tx.PutMarks(e.Link.Run, s.Marks) })
}

func (im *importing) override(s *formats.Said) error {
	word := s.Override
	if s.ToRun != "" {
		first, err := im.Store.Exchange(im.ctx, s.ToRun)
		if err != nil {
			return err
		}
		word.To = first.Link.Run
	}
	err := im.Store.Update(im.ctx, func(tx transcript.Tx) error {
		if _, err := tx.Override(word.Exchange); err == nil {
			return errAlreadySaid
		}
		return tx.PutOverride(word)
	})
	if errors.Is(err, errAlreadySaid) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = reindex.Relink(im.ctx, im.Store, word.Exchange)
	return err
}

var errAlreadySaid = errors.New("said already")
