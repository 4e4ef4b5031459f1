package view

import (
	"bytes"
	"slices"

	"github.com/retake-debugger/retake/transcript"
)

// promptPart is an item with the part of the prompt that it is in: the tools, the
// system prompt, the history.
type promptPart struct {
	*transcript.Item
	rank int
}

// prompt puts items in the order in which providers put a prompt together.
type prompt struct {
	parts []promptPart
	begun bool // the history has
}

// add adds items. System texts that the history begins with are the system
// prompt.
func (p *prompt) add(items []transcript.Item) {
	for i := range items {
		it := &items[i]
		rank := 2
		switch {
		case it.Kind == transcript.ToolDefinition:
			rank = 0
		case it.Kind == transcript.System && (isBeside(it.At) || !p.begun):
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

// same tells whether a provider reads the same in two items: marks for the cache
// and whether a text is written as a string or as a part do not count.
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

// same tells it of parts of two requests, which may be cut.
func (q *requests) same(was, now *request, a, b *promptPart) bool {
	if a.Cut != nil && b.Cut != nil && a.Kind == b.Kind && a.Kind != transcript.ToolDefinition && a.Kind != transcript.Reasoning {
		return a.rank == b.rank && a.Cut.Key == b.Cut.Key
	}
	x, y := []promptPart{*a}, []promptPart{*b}
	q.unabridge(was, x, 0)
	q.unabridge(now, y, 0)
	return x[0].same(y[0])
}

// unabridge puts the whole item in the place of one that was cut.
func (q *requests) unabridge(r *request, parts []promptPart, i int) {
	if i < len(parts) && parts[i].Cut != nil {
		if it := q.at(r, parts[i].At); it != nil {
			parts[i].Item = it
		}
	}
}

// apart gives the prompts of two requests, without the pieces that both begin
// with: whatever comes first of what differs is the same without them.
func (q *requests) apart(a, b *request) (x, y []promptPart) {
	var was, now prompt
	if a.inPieces() && b.inPieces() && a.exchange.Dialect == b.exchange.Dialect {
		was.add(a.outside)
		now.add(b.outside)
		if slices.EqualFunc(was.parts, now.parts, func(a, b promptPart) bool { return a.rank == b.rank }) {
			n := beginAlike(a, b)
			begun := was.begun || q.begins(a, n)
			was.begun, now.begun = begun, begun
			was.add(q.from(a, n))
			now.add(q.from(b, n))
			return was.sorted(), now.sorted()
		}
	}
	was, now = prompt{}, prompt{}
	was.add(q.items(a))
	now.add(q.items(b))
	return was.sorted(), now.sorted()
}

// onlyGoesOn tells by the pieces alone, which is fast, whether a request is the one
// before with more behind its history. If it is not, it may be so all the same.
func (q *requests) onlyGoesOn(before, e *transcript.Exchange) bool {
	if !mayBeInPieces(before) || !mayBeInPieces(e) || !resendsAll(before, e) || before.Link.OutLen <= before.Link.InLen {
		return false
	}
	was, err := q.reader.Segments(q.ctx, before.Request.Body)
	if err != nil {
		return false
	}
	same, more, err := q.reader.SegmentsAfter(q.ctx, e.Request.Body, before.Request.Body)
	if err != nil || same == len(was) {
		return false
	}
	end := was[same:] // what stands behind the history in both
	return len(end) <= len(more) && slices.Equal(end, more[len(more)-len(end):]) && q.closes(end[0])
}

// closes tells whether a piece closes an array.
func (q *requests) closes(id transcript.BodyID) bool {
	if p := q.gap(id); p != nil {
		return bytes.HasPrefix(bytes.TrimSpace(p.text), []byte("]"))
	}
	var text bytes.Buffer
	if !q.readBody(id, &text) || !bytes.HasPrefix(bytes.TrimSpace(text.Bytes()), []byte("]")) {
		return false
	}
	q.keep(pieceKey{id: id}, &piece{gap: true, text: text.Bytes(), opens: arrayOf(opened(bytes.TrimSpace(text.Bytes())))}, text.Len())
	return true
}

// beginAlike counts the pieces that two requests begin with alike. Those between
// elements may differ: what they hold is outside.
func beginAlike(a, b *request) int {
	n := 0
	if a.trunk == b.trunk {
		n = min(a.shared, b.shared)
	}
	for n < a.size() && n < b.size() {
		x, y := a.spot(n), b.spot(n)
		if *x != *y && (x.member != 0 || y.member != 0) {
			break
		}
		n++
	}
	for n > 0 && (n < a.size() && a.spot(n).part > 0 || n < b.size() && b.spot(n).part > 0) { // within an element
		n--
	}
	return n
}

// begins tells whether the history begins in the first pieces of a request.
func (q *requests) begins(r *request, pieces int) bool {
	for i := range pieces {
		if r.spot(i).member.isHistory() && !q.isSteady(r, i) {
			return true
		}
	}
	return false
}

// from gives the items of a request from one of its pieces on, cut if that is wanted.
func (q *requests) from(r *request, first int) []transcript.Item {
	var items []transcript.Item
	for i := first; i < r.size(); i++ {
		if q.brief == nil {
			items = q.add(items, r, i)
		} else if p, _ := q.keptAt(r, i); p != nil {
			items = putAt(items, p.brief, r.spot(i))
		}
	}
	return items
}
