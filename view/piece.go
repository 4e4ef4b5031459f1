package view

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"iter"
	"slices"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/transcript"
)

// pieceKey names a piece by what it is read as: nothing but id for what lies
// between elements.
type pieceKey struct {
	id      transcript.BodyID
	more    string // the ids of the further pieces of a long element
	dialect transcript.Dialect
	member  array
}

// piece is a part of a request: an element of a large array, which may be several of
// the pieces that the store keeps, or what lies between elements. Where it is differs from request to request.
type piece struct {
	gap    bool
	opens  array             // of a gap: the array whose elements follow
	text   []byte            // of a gap
	chain  int               // items of an element that count in the chain
	items  []transcript.Item // of an element, as if it were the first of its array
	brief  []transcript.Item // the same, cut; kept for ever, if it is wanted
	forgot bool              // they are to be read again
}

// array is one of the large arrays of a request, by its place in arrays; 0 for
// what lies between them.
type array int32

// arrays are the names of the large arrays, those of conversations first.
var arrays = [...]string{"", "messages", "input", "contents", "tools", "functions", "system", "instructions"}

const lastHistory = 3

// isHistory tells whether an array holds a conversation.
func (a array) isHistory() bool { return a > 0 && a <= lastHistory }

func arrayOf(name string) array { return array(max(0, slices.Index(arrays[:], name))) }

// gap gives a piece that lies between elements; nil if it was not read yet.
func (q *requests) gap(id transcript.BodyID) *piece { return q.pieces[pieceKey{id: id}] }

// keyOf names the element that those pieces are.
func keyOf(ids []transcript.BodyID, d transcript.Dialect, member array) pieceKey {
	key := pieceKey{id: ids[0], dialect: d, member: member}
	if len(ids) > 1 {
		var more []byte
		for _, id := range ids[1:] {
			more = binary.AppendVarint(more, int64(id))
		}
		key.more = string(more)
	}
	return key
}

// next gives what the next pieces of a request are, and how many of them it takes;
// nil if that is neither an element nor lies between some.
func (q *requests) next(ids []transcript.BodyID, d transcript.Dialect, member array, first bool) (*piece, int) {
	if p := q.gap(ids[0]); p != nil || first {
		if p == nil {
			return q.readPiece(ids, d, member, first)
		}
		return p, 1
	}
	if p := q.pieces[keyOf(ids[:1], d, member)]; p != nil {
		return p, 1
	}
	for _, n := range q.long[ids[0]] {
		if n > len(ids) {
			continue
		}
		if p := q.pieces[keyOf(ids[:n], d, member)]; p != nil {
			return p, n
		}
	}
	return q.readPiece(ids, d, member, first)
}

// readPiece reads what begins with the first of those pieces, and says how many of
// them it is.
func (q *requests) readPiece(ids []transcript.BodyID, d transcript.Dialect, member array, first bool) (*piece, int) {
	var read bytes.Buffer
	if !q.readBody(ids[0], &read) {
		return nil, 0
	}
	p, n := &piece{}, 1
	if trimmed := bytes.TrimSpace(read.Bytes()); first || bytes.HasPrefix(trimmed, []byte("]")) {
		p.gap, p.text, p.opens = true, read.Bytes(), arrayOf(opened(trimmed))
		q.keep(pieceKey{id: ids[0]}, p, read.Len())
		return p, 1
	}
	var end extent
	for had := 0; !end.reached(read.Bytes()[had:]); n++ {
		if had = read.Len(); n == len(ids) || !q.readBody(ids[n], &read) {
			return nil, 0
		}
	}
	text := read.Bytes()
	if p.items = dialect.DecodeElement(d, "/"+arrays[member]+"/0", text); p.items == nil && !isElement(bytes.TrimSpace(text)) {
		return nil, 0
	}
	for i := range p.items {
		if p.items[i].InChain() {
			p.chain++
		}
	}
	if q.brief != nil {
		p.brief = q.brief.of(p.items)
	}
	if n > 1 && !slices.Contains(q.long[ids[0]], n) {
		q.long[ids[0]] = append(q.long[ids[0]], n)
	}
	q.keep(keyOf(ids[:n], d, member), p, len(text))
	return p, n
}

// comingPiece is the bytes of a piece.
type comingPiece struct {
	id   transcript.BodyID
	read bytes.Buffer
	ok   bool
}

const (
	fewestAhead = 8 // pieces for which a goroutine is worth it
	piecesAhead = 4
)

// readAhead has those pieces read that were not read before, in order and some in
// advance, until what it returns is called.
func (q *requests) readAhead(ids []transcript.BodyID) (stop func()) {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id transcript.BodyID) bool { return q.met[id] })
	if len(ids) < fewestAhead {
		return func() {}
	}
	next, end := iter.Pull(ahead(piecesAhead, func(yield func(comingPiece) bool) {
		for _, id := range ids {
			p := comingPiece{id: id}
			p.ok = q.fetch(id, &p.read)
			if !yield(p) {
				return
			}
		}
	}))
	q.coming = next
	return func() { q.coming = nil; end() }
}

// readBody adds the bytes of a piece; the store keeps none that is large.
func (q *requests) readBody(id transcript.BodyID, to *bytes.Buffer) bool {
	for q.coming != nil && !q.met[id] {
		p, ok := q.coming()
		if !ok {
			q.coming = nil
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

// fetch reads a piece from the store.
func (q *requests) fetch(id transcript.BodyID, to *bytes.Buffer) bool {
	body, err := q.reader.Body(q.ctx, id)
	if err != nil {
		return false
	}
	defer body.Close()
	_, err = io.Copy(to, body)
	return err == nil
}

// extent finds where a JSON value ends that comes in parts.
type extent struct {
	depth   int
	text    bool // inside a string
	escaped bool // behind a backslash
}

// reached tells whether the value ends in the next part. A number or a word may end
// anywhere.
func (x *extent) reached(part []byte) bool {
	for i := 0; i < len(part); i++ {
		switch c := part[i]; {
		case x.escaped:
			x.escaped = false
		case x.text:
			end := bytes.IndexByte(part[i:], '"')
			if end < 0 {
				end = len(part) - i
			}
			said := part[i : i+end]
			x.escaped = (len(said)-len(bytes.TrimRight(said, `\`)))%2 == 1
			if i += end; i < len(part) {
				x.text, x.escaped = x.escaped, false
			}
		case c == '"':
			x.text = true
		case c == '{' || c == '[':
			x.depth++
		case c == '}' || c == ']':
			x.depth--
		}
	}
	return x.depth <= 0 && !x.text
}

func (q *requests) keep(key pieceKey, p *piece, size int) {
	if q.kept += size; q.kept > q.most {
		for _, old := range q.whole {
			old.items, old.forgot = nil, true
		}
		q.whole, q.kept = q.whole[:0], size
	}
	if q.pieces[key] = p; !p.gap {
		q.whole = append(q.whole, p)
	}
}

// isElement tells whether a piece is a value with a separator before it.
func isElement(text []byte) bool {
	return json.Valid(bytes.TrimPrefix(text, []byte(",")))
}

// opened gives the name of the array that begins at the end of a piece.
func opened(text []byte) string {
	rest, ok := bytes.CutSuffix(text, []byte("["))
	if !ok {
		return ""
	}
	rest, ok = bytes.CutSuffix(bytes.TrimSpace(rest), []byte(":"))
	if !ok {
		return ""
	}
	rest, ok = bytes.CutSuffix(bytes.TrimSpace(rest), []byte(`"`))
	if !ok {
		return ""
	}
	return string(rest[bytes.LastIndexByte(rest, '"')+1:])
}
