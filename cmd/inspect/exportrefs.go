package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// chosen is what a reference, or the lack of one, means to an export: one
// exchange, or a run; neither for everything.
type chosen struct {
	ref      string
	run      string // id
	exchange *transcript.Exchange
}

// choose reads the references. Without any it is the latest run, or everything
// where all says so or a filter narrows it.
func (x *exporting) choose(all bool) ([]chosen, error) {
	refs := x.refs
	if len(refs) == 0 {
		if all || x.o.filter != "" {
			return []chosen{{}}, nil
		}
		refs = []string{"last"}
	}
	var list []chosen
	for _, ref := range refs {
		t, err := x.locate(x.ctx, x.reader, ref)
		if err != nil {
			if err := x.errors.take(ref, err); err != nil {
				return nil, err
			}
			continue
		}
		c := chosen{ref: ref, exchange: t.Exchange}
		if t.Exchange == nil {
			c.run = t.Run.ID
		}
		list = append(list, c)
	}
	return list, nil
}

// exchanges gives what was chosen to f, oldest first, of runs all exchanges. f
// says what stands in the way of one; damage and what is unfinished is told and
// left out.
func (x *exporting) exchanges(all bool, f func(*transcript.Exchange) error) error {
	list, err := x.choose(all)
	if err != nil {
		return err
	}
	passes, err := x.filter()
	if err != nil {
		return err
	}
	done := int64(0)
	one := func(e *transcript.Exchange, err error) error {
		what := ""
		if err == nil {
			what = view.Ref(e.N)
			if passes != nil && !passes(e) {
				return nil
			}
			err = f(e)
			done++
			x.bar.show("exporting, exchanges", done, 0)
		}
		return x.errors.take(what, err)
	}
	for _, c := range list {
		if c.exchange != nil {
			if err := one(c.exchange, nil); err != nil {
				return err
			}
			continue
		}
		for e, err := range x.reader.Exchanges(x.ctx, transcript.Filter{Run: c.run, Oldest: true}) {
			if err == nil && x.o.chunks {
				e, err = x.reader.Exchange(x.ctx, e.ID)
			}
			if err := one(e, err); err != nil {
				return err
			}
		}
	}
	return x.ctx.Err()
}

// one gives the only exchange that is named.
func (x *exporting) one() (*transcript.Exchange, error) {
	if len(x.refs) != 1 {
		return nil, usageError{fmt.Errorf("--format %s takes one exchange, got %d", x.o.format, len(x.refs))}
	}
	return x.resolve(x.ctx, x.reader, x.refs[0])
}

// leaves gives the exchanges with which the conversations of what was chosen
// end, of each its run's others.
func (x *exporting) leaves() ([]*transcript.Exchange, error) {
	list, err := x.choose(false)
	if err != nil {
		return nil, err
	}
	passes, err := x.filter()
	if err != nil {
		return nil, err
	}
	var out []*transcript.Exchange
	for _, c := range list {
		if c.exchange != nil {
			if passes == nil || passes(c.exchange) {
				out = append(out, c.exchange)
			}
			continue
		}
		found, err := x.leavesOf(c.run, passes)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, x.ctx.Err()
}

// leavesOf gives the ends of a run's conversations, or of all.
func (x *exporting) leavesOf(run string, passes func(*transcript.Exchange) bool) ([]*transcript.Exchange, error) {
	ends, err := view.NewEnds(x.ctx, x.reader, run, passes)
	if err != nil {
		return nil, err
	}
	for _, err := range ends.Damaged {
		if err := x.errors.take("", err); err != nil {
			return nil, err
		}
	}
	for range ends.Failed {
		x.lost.Add("branches that failed")
	}
	return ends.List, nil
}

// filter reads --filter; nil if there is none. Texts, tools and errors are looked
// for as search does it, the rest is in the exchange.
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
		search := view.Search{SearchQuery: q}
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
		!q.Before.IsZero() && !e.StartedAt.Before(q.Before):
		return false
	}
	return true
}

// mostSteps bounds the numbers of steps that are believed.
const mostSteps = 100_000

// parseSteps reads numbers and ranges of them: 1-3,5.
func parseSteps(s string) ([]int, error) {
	if s == "" {
		return nil, nil
	}
	var list []int
	for part := range strings.SplitSeq(s, ",") {
		from, to, ranged := strings.Cut(strings.TrimSpace(part), "-")
		low, err := strconv.Atoi(from)
		high := low
		if err == nil && ranged {
			high, err = strconv.Atoi(to)
		}
		if err != nil || low < 1 || high < low || high > mostSteps {
			return nil, fmt.Errorf("--steps %q: want numbers such as 1-3,5", s)
		}
		for n := low; n <= high; n++ {
			list = append(list, n)
		}
	}
	return list, nil
}
