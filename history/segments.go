package history

import (
	"bytes"
	"encoding/binary"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// partKey names a part by what it is decoded as. A frame has an id alone.
type partKey struct {
	id      transcript.BodyID
	more    string // the ids of the further segments of a long element
	dialect transcript.Dialect
	member  array
}

// part is a decoded part of a request: an element of a large array, which may be several
// segments, or a frame, which lies between elements. Its place differs from request to
// request.
type part struct {
	frame  bool
	opens  array             // of a frame: the array whose elements follow
	text   []byte            // of a frame
	chain  int               // items of an element that are in the chain
	items  []transcript.Item // of an element, as if it were the first of its array
	cut    []transcript.Item // the same, cut; always kept, if it is wanted
	forgot bool              // items must be read again
}

// array is one of the large arrays of a request, by its place in arrays; 0 for
// what lies between them.
type array int32

// arrays are the names of the large arrays, those of conversations first, after a name for
// what lies between them.
type arrays struct {
	names       []string
	lastHistory array
}

func largeArrays() arrays {
	names, histories := dialect.Arrays()
	return arrays{append([]string{""}, names...), array(histories)}
}

// isHistory reports whether an array holds a conversation.
func (l *arrays) isHistory(a array) bool { return a > 0 && a <= l.lastHistory }

func (l *arrays) of(name string) array { return array(max(0, slices.Index(l.names, name))) }

// frame returns a frame, nil if it was not read yet.
func (q *Reader) frame(id transcript.BodyID) *part { return q.parts[partKey{id: id}] }

// keyOf names the element of these segments.
func keyOf(ids []transcript.BodyID, d transcript.Dialect, member array) partKey {
	key := partKey{id: ids[0], dialect: d, member: member}
	if len(ids) > 1 {
		var more []byte
		for _, id := range ids[1:] {
			more = binary.AppendVarint(more, int64(id))
		}
		key.more = string(more)
	}
	return key
}

// next returns the part that the next segments of a request are, and how many of them;
// nil if that is neither an element nor a frame.
func (q *Reader) next(ids []transcript.BodyID, d transcript.Dialect, member array, first bool) (*part, int) {
	if p := q.frame(ids[0]); p != nil || first {
		if p == nil {
			return q.readPart(ids, d, member, first)
		}
		return p, 1
	}
	if p := q.parts[keyOf(ids[:1], d, member)]; p != nil {
		return p, 1
	}
	for _, n := range q.long[ids[0]] {
		if n > len(ids) {
			continue
		}
		if p := q.parts[keyOf(ids[:n], d, member)]; p != nil {
			return p, n
		}
	}
	return q.readPart(ids, d, member, first)
}

// readPart reads the part that begins with the first of these segments, and returns how
// many of them it is.
func (q *Reader) readPart(ids []transcript.BodyID, d transcript.Dialect, member array, first bool) (*part, int) {
	var read bytes.Buffer
	if !q.segment(ids[0], &read) {
		return nil, 0
	}
	p, n := &part{}, 1
	if trimmed := bytes.TrimSpace(read.Bytes()); first || bytes.HasPrefix(trimmed, []byte("]")) {
		p.frame, p.text, p.opens = true, read.Bytes(), q.arrays.of(rawjson.OpenArray(trimmed))
		q.keep(partKey{id: ids[0]}, p, read.Len())
		return p, 1
	}
	var end rawjson.Extent
	for had := 0; !end.Reached(read.Bytes()[had:]); n++ {
		if had = read.Len(); n == len(ids) || !q.segment(ids[n], &read) {
			return nil, 0
		}
	}
	text := read.Bytes()
	if p.items = dialect.DecodeElement(d, "/"+q.arrays.names[member]+"/0", text); p.items == nil && !isElement(bytes.TrimSpace(text)) {
		return nil, 0
	}
	for i := range p.items {
		if p.items[i].InChain() {
			p.chain++
		}
	}
	if q.cutter != nil {
		p.cut = q.cutter.of(p.items)
	}
	if n > 1 && !slices.Contains(q.long[ids[0]], n) {
		q.long[ids[0]] = append(q.long[ids[0]], n)
	}
	q.keep(keyOf(ids[:n], d, member), p, len(text))
	return p, n
}

// fetched is a segment and its bytes.
type fetched struct {
	id   transcript.BodyID
	read bytes.Buffer
	ok   bool
}

const (
	minAhead      = 8 // segments for which a goroutine is worth it
	segmentsAhead = 4
)

// readAhead reads those of the segments that were not read before, in order and some in
// advance, until stop is called.
func (q *Reader) readAhead(ids []transcript.BodyID) (stop func()) {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id transcript.BodyID) bool { return q.met[id] })
	if len(ids) < minAhead {
		return func() {}
	}
	next, end := iter.Pull(Ahead(segmentsAhead, func(yield func(fetched) bool) {
		for _, id := range ids {
			p := fetched{id: id}
			p.ok = q.fetch(id, &p.read)
			if !yield(p) {
				return
			}
		}
	}))
	q.ahead = next
	return func() { q.ahead = nil; end() }
}

// segment appends the bytes of a segment, which are never many.
func (q *Reader) segment(id transcript.BodyID, to *bytes.Buffer) bool {
	for q.ahead != nil && !q.met[id] {
		p, ok := q.ahead()
		if !ok {
			q.ahead = nil
			break
		}
		if p.id == id {
			q.met[id] = true
			_, _ = p.read.WriteTo(to)
			return p.ok
		}
	}
	q.met[id] = true
	return q.fetch(id, to)
}

// fetch reads a segment from the store.
func (q *Reader) fetch(id transcript.BodyID, to *bytes.Buffer) bool {
	body, err := Open(q.ctx, q.store, id)
	if err != nil {
		return false
	}
	defer body.Close()
	_, err = io.Copy(to, body)
	return err == nil
}

func (q *Reader) keep(key partKey, p *part, size int) {
	if q.kept += size; q.kept > q.most {
		for _, old := range q.whole {
			old.items, old.forgot = nil, true
		}
		q.whole, q.kept = q.whole[:0], size
	}
	if q.parts[key] = p; !p.frame {
		q.whole = append(q.whole, p)
	}
}

// IsBeside reports whether a pointer into a request is beside the conversation.
func IsBeside(at string) bool {
	member, _, _ := strings.Cut(strings.TrimPrefix(at, "/"), "/")
	return !dialect.IsHistory(member)
}

// isElement reports whether a text is a value with a separator before it.
func isElement(text []byte) bool {
	return rawjson.Valid(bytes.TrimPrefix(text, []byte(",")))
}
