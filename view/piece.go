package view

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/transcript"
)

// pieceKey names a piece by what it is read as: nothing but id for what lies
// between elements.
type pieceKey struct {
	id      transcript.BodyID
	dialect transcript.Dialect
	member  array
}

// piece is one piece of a request: an element of a large array, or what lies
// between them. Where it is differs from request to request.
type piece struct {
	gap    bool
	opens  array             // of a gap: the array whose elements follow
	text   []byte            // of a gap
	chain  int               // items of an element that count in the chain
	items  []transcript.Item // of an element, as if it were the first of its array
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

// readPiece reads a piece; nil if it is neither an element nor lies between
// some.
func (q *requests) readPiece(key pieceKey, first bool) *piece {
	body, err := q.reader.Body(q.ctx, key.id)
	if err != nil {
		return nil
	}
	defer body.Close()
	var read bytes.Buffer
	if _, err := io.Copy(&read, body); err != nil { // a piece is small enough: the store made it
		return nil
	}
	text := read.Bytes()
	p := &piece{}
	if trimmed := bytes.TrimSpace(text); first || bytes.HasPrefix(trimmed, []byte("]")) {
		p.gap, p.text, p.opens = true, text, arrayOf(opened(trimmed))
		key = pieceKey{id: key.id}
	} else if p.items = dialect.DecodeElement(key.dialect, "/"+arrays[key.member]+"/0", text); p.items == nil && !isElement(trimmed) {
		return nil
	}
	for i := range p.items {
		if p.items[i].InChain() {
			p.chain++
		}
	}
	q.keep(key, p, len(text))
	return p
}

func (q *requests) keep(key pieceKey, p *piece, size int) {
	if q.kept += size; q.kept > keptItems {
		for _, old := range q.pieces {
			old.items, old.forgot = nil, !old.gap
		}
		q.kept = size
	}
	q.pieces[key] = p
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
