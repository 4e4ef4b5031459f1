package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/retake-debugger/retake/files"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// choose reads the references. The default is the latest run, or everything if the
// form or a filter asks for it.
func (x *exporting) choose() ([]files.Chosen, error) {
	refs := x.refs
	if x.form.One {
		if len(refs) != 1 {
			return nil, usageError{fmt.Errorf("--format %s takes one exchange, got %d", x.o.format, len(refs))}
		}
		e, err := x.resolve(x.ctx, x.reader, refs[0])
		return []files.Chosen{{Ref: refs[0], Exchange: e}}, err
	}
	if len(refs) == 0 {
		if x.form.All || x.o.filter != "" {
			return []files.Chosen{{}}, nil
		}
		refs = []string{"last"}
	}
	var list []files.Chosen
	for _, ref := range refs {
		t, err := x.locate(x.ctx, x.reader, ref)
		if err != nil {
			if errors.Is(err, transcript.ErrNotFound) { // named, and not pruned in the meantime
				return nil, err
			}
			if err := x.errors.take(ref, err); err != nil {
				return nil, err
			}
			continue
		}
		c := files.Chosen{Ref: ref, Exchange: t.Exchange}
		if t.Exchange == nil {
			c.Run = t.Run.ID
		}
		list = append(list, c)
	}
	return list, nil
}

// filter reads --filter; nil if there is none. Texts, tools and errors are matched
// by a search, the rest by the exchange.
func (x *exporting) filter() (func(*transcript.Exchange) bool, error) {
	if x.o.filter == "" {
		return nil, nil
	}
	q, err := view.ParseQuery(x.o.filter, time.Now())
	if err != nil {
		return nil, usageError{err}
	}
	if q.Run != "" {
		run, err := x.resolveRun(x.ctx, x.reader, q.Run)
		if err != nil {
			return nil, err
		}
		q.Run = run.ID
	}
	var found map[string]bool
	if q.Text != "" || q.Tool != "" || q.Errors {
		search := view.Search{SearchQuery: q, Each: true}
		hits, err := view.Find(x.ctx, x.reader, search)
		if err != nil {
			return nil, err
		}
		found = map[string]bool{}
		for i := range hits.Hits {
			found[hits.Hits[i].Exchange] = true
		}
	}
	return func(e *transcript.Exchange) bool {
		return (found == nil || found[e.ID]) && passes(e, &q)
	}, nil
}

func passes(e *transcript.Exchange, q *transcript.SearchQuery) bool {
	holds := func(name string) bool { return strings.Contains(strings.ToLower(name), strings.ToLower(q.Model)) }
	switch {
	case q.Model != "" && !holds(e.Model) && !holds(e.ResponseModel),
		q.Run != "" && e.Link.Run != q.Run,
		q.Status[0] != 0 && (e.Status < q.Status[0] || e.Status > q.Status[1]),
		q.Outcome != "" && e.Outcome != q.Outcome,
		!q.After.IsZero() && e.StartedAt.Before(q.After),
		!q.Before.IsZero() && (e.StartedAt.IsZero() || !e.StartedAt.Before(q.Before)):
		return false
	}
	return true
}
