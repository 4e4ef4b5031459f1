package view

import (
	"slices"
	"strings"

	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/transcript"
)

// pinned attaches each finding to one entry of a transcript.
type pinned struct {
	byExchange map[string][]lint.Finding // not attached yet
}

func pinnedFrom(found []lint.Finding) *pinned {
	p := &pinned{byExchange: map[string][]lint.Finding{}}
	for _, f := range found {
		p.byExchange[f.Exchange] = append(p.byExchange[f.Exchange], f)
	}
	return p
}

// hang attaches the findings of an exchange to the items that they are about.
func (p *pinned) hang(exchange string, entries []Entry) {
	left := p.byExchange[exchange]
	if len(left) == 0 {
		return
	}
	kept := left[:0]
	for _, f := range left {
		if e := about(&f, entries); e != nil {
			e.Findings = append(e.Findings, f)
		} else {
			kept = append(kept, f)
		}
	}
	p.byExchange[exchange] = kept
}

// hangCall attaches the findings of an exchange about a call that it continues, for
// instance a missing result.
func (p *pinned) hangCall(exchange string, call *Entry) {
	p.byExchange[exchange] = slices.DeleteFunc(p.byExchange[exchange], func(f lint.Finding) bool {
		about := f.CallID != "" && f.CallID == call.Item.CallID && f.Body == "request"
		if about {
			call.Findings = append(call.Findings, f)
		}
		return about
	})
}

// rest returns the findings of an exchange that are not attached.
func (p *pinned) rest(exchange string) []lint.Finding {
	list := p.byExchange[exchange]
	delete(p.byExchange, exchange)
	return list
}

// about returns the entry of a finding: the entry with the nearest enclosing item,
// else the call with its call id.
func about(f *lint.Finding, entries []Entry) *Entry {
	var best *Entry
	deepest := -1
	at := func(e *Entry, p *transcript.Place) {
		if p != nil && p.Exchange == f.Exchange && p.Body == f.Body && isUnder(f.At, p.At) && len(p.At) > deepest {
			best, deepest = e, len(p.At)
		}
	}
	for i := range entries {
		e := &entries[i]
		at(e, &e.Place)
		if e.Pair != nil {
			at(e, e.Pair.Call)
			at(e, e.Pair.Result)
		}
	}
	for i := range entries {
		if e := &entries[i]; best == nil && f.CallID != "" && e.Item.CallID == f.CallID && e.Place.Exchange == f.Exchange {
			best = e
		}
	}
	return best
}

// isUnder reports whether a JSON pointer is equal to another one or below it.
func isUnder(pointer, above string) bool {
	rest, ok := strings.CutPrefix(pointer, above)
	return ok && above != "" && (rest == "" || rest[0] == '/')
}
