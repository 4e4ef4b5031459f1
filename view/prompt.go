package view

import (
	"bytes"
	"slices"

	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/transcript"
)

// promptPart is an item with its part of the prompt: the tools, the system prompt
// or the history.
type promptPart struct {
	*transcript.Item
	rank int
}

// prompt sorts items into the order in which providers build a prompt.
type prompt struct {
	parts []promptPart
	begun bool // the history has
}

// add adds items. System texts at the beginning of the history belong to the system
// prompt.
func (p *prompt) add(items []transcript.Item) {
	for i := range items {
		it := &items[i]
		rank := 2
		switch {
		case it.Kind == transcript.ToolDefinition:
			rank = 0
		case it.Kind == transcript.System && (history.IsBeside(it.At) || !p.begun):
			rank = 1
		default:
			p.begun = true
		}
		p.parts = append(p.parts, promptPart{it, rank})
	}
}

func (p *prompt) sorted() []promptPart {
	slices.SortStableFunc(p.parts, func(a, b promptPart) int { return a.rank - b.rank })
	return p.parts
}

// same reports whether two items are equal to the provider: cache marks do not
// count, nor whether a text is a string or a part.
func (p promptPart) same(o promptPart) bool {
	a, b := p.Item, o.Item
	if p.rank != o.rank || a.Kind != b.Kind {
		return false
	}
	if bytes.Equal(a.Raw, b.Raw) {
		return true
	}
	if a.Kind == transcript.ToolDefinition || a.Kind == transcript.Reasoning {
		return transcript.HashJSON(a.Raw) == transcript.HashJSON(b.Raw)
	}
	return transcript.KeyOf(a) == transcript.KeyOf(b)
}

// same compares parts of two requests, which may be cut.
func (l *cacheLook) same(was, now *history.Request, a, b *promptPart) bool {
	if a.Cut != nil && b.Cut != nil && a.Kind == b.Kind && a.Kind != transcript.ToolDefinition && a.Kind != transcript.Reasoning {
		return a.rank == b.rank && a.Cut.Key == b.Cut.Key
	}
	x, y := []promptPart{*a}, []promptPart{*b}
	l.unabridge(was, x, 0)
	l.unabridge(now, y, 0)
	return x[0].same(y[0])
}

// unabridge replaces cut items by the whole ones.
func (l *cacheLook) unabridge(r *history.Request, parts []promptPart, i int) {
	if i < len(parts) && parts[i].Cut != nil {
		if it := l.At(r, parts[i].At); it != nil {
			parts[i].Item = it
		}
	}
}

// apart returns the prompts of two requests without the units at the beginning that
// both share. The first difference stays the same.
func (l *cacheLook) apart(a, b *history.Request) (x, y []promptPart) {
	var was, now prompt
	if a.InSegments() && b.InSegments() && a.Exchange.Dialect == b.Exchange.Dialect {
		was.add(a.Outside())
		now.add(b.Outside())
		if slices.EqualFunc(was.parts, now.parts, func(a, b promptPart) bool { return a.rank == b.rank }) {
			x, y, begun := l.Diverge(a, b)
			begun = begun || was.begun
			was.begun, now.begun = begun, begun
			was.add(x)
			now.add(y)
			return was.sorted(), now.sorted()
		}
	}
	was, now = prompt{}, prompt{}
	was.add(l.Items(a))
	now.add(l.Items(b))
	return was.sorted(), now.sorted()
}
