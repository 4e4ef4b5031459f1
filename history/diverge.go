package history

import (
	"bytes"
	"slices"

	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// OnlyGoesOn reports whether the segments of a request are those of the one before with
// more after its history. It reads next to nothing; false does not prove the contrary.
func (q *Reader) OnlyGoesOn(before, e *transcript.Exchange) bool {
	if !MayBeInSegments(before) || !MayBeInSegments(e) {
		return false
	}
	was, err := q.store.Segments(q.ctx, before.Request.Body)
	if err != nil {
		return false
	}
	same, more, err := q.store.SegmentsAfter(q.ctx, e.Request.Body, before.Request.Body)
	if err != nil || same == len(was) {
		return false
	}
	end := was[same:] // what follows the history in both
	return len(end) <= len(more) && slices.Equal(end, more[len(more)-len(end):]) && q.closes(end[0])
}

// closes reports whether a segment closes an array.
func (q *Reader) closes(id transcript.BodyID) bool {
	if p := q.frame(id); p != nil {
		return bytes.HasPrefix(bytes.TrimSpace(p.text), []byte("]"))
	}
	var text bytes.Buffer
	if !q.segment(id, &text) || !bytes.HasPrefix(bytes.TrimSpace(text.Bytes()), []byte("]")) {
		return false
	}
	q.keep(partKey{id: id}, &part{frame: true, text: text.Bytes(), opens: q.arrays.of(rawjson.OpenArray(bytes.TrimSpace(text.Bytes())))}, text.Len())
	return true
}

// Diverge returns the items of two requests after the segments that both begin with, and
// reports whether the history begins within those.
func (q *Reader) Diverge(a, b *Request) (x, y []transcript.Item, begun bool) {
	n := beginAlike(a, b)
	return q.from(a, n), q.from(b, n), q.begins(a, n)
}

// beginAlike counts the segments that two requests begin with alike. Frames may differ:
// what they hold is outside.
func beginAlike(a, b *Request) int {
	n := 0
	if a.prefix == b.prefix {
		n = min(a.shared, b.shared)
	}
	for n < a.size() && n < b.size() {
		x, y := a.spot(n), b.spot(n)
		if *x != *y && (x.member != 0 || y.member != 0) {
			break
		}
		n++
	}
	for n > 0 && (n < a.size() && a.spot(n).nth > 0 || n < b.size() && b.spot(n).nth > 0) { // within an element
		n--
	}
	return n
}

// begins reports whether the history begins in the first n segments of a request.
func (q *Reader) begins(r *Request, n int) bool {
	for i := range n {
		if q.arrays.isHistory(r.spot(i).member) && !q.onlySettings(r, i) {
			return true
		}
	}
	return false
}

// from returns the items of a request from one of its segments on, cut if the reader
// cuts.
func (q *Reader) from(r *Request, first int) []transcript.Item {
	var items []transcript.Item
	for i := first; i < r.size(); i++ {
		if q.cutter == nil {
			items = q.add(items, r, i)
		} else if p, _ := q.keptPart(r, i); p != nil {
			items = q.putAt(items, p.cut, r.spot(i))
		}
	}
	return items
}
