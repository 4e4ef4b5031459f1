package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/replay/minimise"
	"github.com/retake-debugger/retake/transcript"
)

const triedShown = 12 // of the candidates, the last ones, while the search goes on

// smallestPage shows the progress and the result of a search for the smallest
// request.
type smallestPage struct {
	groupPage
	Under    *searched // while this viewer runs it
	Most     int
	F        *minimise.Smallest
	Items    []neededPart
	Tools    []neededPart
	Notes    []string
	Smallest *transcript.Exchange // as it was sent again; nil if it is not stored
	Tried    []minimise.Tried
	Earlier  int // candidates that are not listed
}

// neededPart is a needed part of the request, or a stretch of parts that are not
// needed.
type neededPart struct {
	Kept    *minimise.Decisive
	Href    string // of a kept part
	LeftOut []minimise.Unit
}

func (s *server) smallest(c *gin.Context) {
	ctx := c.Request.Context()
	group, ok := s.groupOf(c)
	if !ok {
		return
	}
	p := &smallestPage{groupPage: groupPage{layout: layout{Title: "Smallest request"}, Group: group, Form: s.writable(c)}}
	origin := ""
	var err error
	if run := s.takes.searchOf(group); run != nil {
		now := run.stand()
		seen := fmt.Sprint(len(now.Tried), ".", now.Ended)
		if c.Query("seen") == seen {
			c.Status(http.StatusNoContent)
			return
		}
		p.moved(s, run.of)
		p.Under, p.Look, p.Most, p.F, origin = now, run.Look, run.Most, now.Found, run.Origin.ID
		p.Tried = now.Tried
		if !now.Ended {
			p.Live, p.Refresh = true, refreshURL(c, seen)
			p.Earlier = max(0, len(p.Tried)-triedShown)
			p.Tried = p.Tried[p.Earlier:]
		}
	} else if p.F, err = minimise.Read(ctx, s.reader, group); err != nil {
		s.failed(c, err)
		return
	}
	if p.F != nil {
		origin, p.Look, p.Tried, p.Earlier = p.F.Exchange, p.F.LookedAt, p.F.Candidates, 0
	}
	if err := p.read(ctx, s.reader, origin, p.Under != nil); err != nil {
		s.failed(c, err)
		return
	}
	if p.Origin != nil {
		p.Title = "What " + p.OriginRef() + " needs"
	}
	if p.F != nil {
		p.report(ctx, s.reader)
	}
	s.show(c, http.StatusOK, "smallest-page", p)
}

// report lays out the result.
func (p *smallestPage) report(ctx context.Context, r transcript.Reader) {
	if whole := p.F.Candidates; len(whole) == 0 || !whole[0].Shows {
		return // the verdict says it all
	}
	p.Items, p.Tools = p.divided(false), p.divided(true)
	p.Notes = foundNotes(p.F)
	for i := range p.all {
		if t := &p.all[i]; fmt.Sprintf("t%d", t.N) == p.F.Take {
			p.Smallest, _ = r.Exchange(ctx, t.Last()) // nil if it is not stored yet or was pruned
		}
	}
}

// divided returns what is kept and what is left out in the order of the request:
// its items or its tools.
func (p *smallestPage) divided(tools bool) (list []neededPart) {
	f := p.F
	of := func(u *minimise.Unit) bool { return (u.Kind == transcript.ToolDefinition) == tools }
	var units []neededPart
	for i := range f.Decisive {
		if d := &f.Decisive[i]; of(&d.Unit) {
			units = append(units, neededPart{Kept: d, Href: p.href(d.At)})
		}
	}
	for i := range f.LeftOut {
		if u := &f.LeftOut[i]; of(u) {
			units = append(units, neededPart{LeftOut: f.LeftOut[i : i+1]})
		}
	}
	slices.SortStableFunc(units, func(a, b neededPart) int { return a.n() - b.n() })
	for _, u := range units {
		if n := len(list); u.Kept == nil && n > 0 && list[n-1].Kept == nil {
			list[n-1].LeftOut = append(slices.Clip(list[n-1].LeftOut), u.LeftOut...)
			continue
		}
		list = append(list, u)
	}
	return list
}

func (n *neededPart) n() int {
	if n.Kept != nil {
		return n.Kept.N
	}
	return n.LeftOut[0].N
}

// href returns the address of an item of the whole request. It is "" if the
// provider stored a part of the request, because the pointers are then not those of
// the body that was sent.
func (p *smallestPage) href(at []string) string {
	if p.Origin == nil || len(at) == 0 || p.Origin.Link.ServerHeld() {
		return ""
	}
	return itemPageURL(p.Origin.ID, at[0])
}

// Gist describes a left-out stretch in one line.
func (n neededPart) Gist() string {
	if len(n.LeftOut) == 1 {
		return strings.TrimSpace(unitLabel(n.LeftOut[0]) + "  " + n.LeftOut[0].Text)
	}
	var names []string
	counts := map[string]int{}
	for i := range n.LeftOut {
		name := unitLabel(n.LeftOut[i])
		if counts[name]++; counts[name] == 1 {
			names = append(names, name)
		}
	}
	for i, name := range names {
		if counts[name] > 1 {
			names[i] = fmt.Sprintf("%d× %s", counts[name], name)
		}
	}
	return strings.Join(names, ", ")
}

// unitLabel names the kind of a unit.
func unitLabel(u minimise.Unit) string {
	switch {
	case u.Name != "":
		return u.Name
	case u.Kind == transcript.MessageItem && u.Role != "":
		return u.Role
	}
	return strings.ReplaceAll(string(u.Kind), "_", " ")
}

// foundNotes describe how certain the result is and what it cost.
func foundNotes(f *minimise.Smallest) (list []string) {
	if f.Stopped != "" {
		list = append(list, "The search was ended: "+f.Stopped+". The request may still be larger than needed.")
	}
	if a := f.Again; a == nil {
		list = append(list, "The smallest request was not asked again.")
	} else {
		again := fmt.Sprintf("Asked again, the smallest request shows it in %d of %d answers", a.Yes, a.Of)
		if a.Yes < f.AtLeast {
			again += ": it was chance. Look again, and ask each candidate more often"
		}
		list = append(list, again+".")
	}
	if slices.ContainsFunc(f.Decisive, func(d minimise.Decisive) bool { return d.Required }) {
		list = append(list, "What is required is there since the API wants it; whether it matters was not tried.")
	}
	if f.Illegal > 0 {
		list = append(list, fmt.Sprintf("%d candidates were not sent, since a provider would refuse them.", f.Illegal))
	}
	return list
}

func (s *server) stopSmallest(c *gin.Context) {
	if group, ok := s.groupOf(c); ok {
		if run := s.takes.searchOf(group); run != nil {
			run.cancel()
		}
		c.Redirect(http.StatusSeeOther, smallestURL(group))
	}
}

// apiSmallest returns the result as inspect minimise --json prints it, without the
// request.
func (s *server) apiSmallest(c *gin.Context) { giveReport(s, c, minimise.Read) }
