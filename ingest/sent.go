package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/transcript"
)

// sent is what an exchange sent, piece by piece of its stored request. The next
// step of the run sends nearly all of these pieces again: they need not be read
// to know what they are.
type sent struct {
	known  transcript.Known                // nil if nothing is known
	pieces map[transcript.BodyID]sentPiece // nil if they are not the request's elements
}

// sentPiece is an element of one of the request's large arrays, or what
// stands before such an array or behind the last one.
type sentPiece struct {
	member  string // the array
	element bool
	chain   int              // how many items in the chain it holds
	known   []transcript.Key // by what its other items are known
}

// slot is the place of an element.
type slot struct {
	member string
	index  int
}

// add notes an item of an element.
func (p *sentPiece) add(it *transcript.Item) {
	if it.InChain() {
		p.chain++
	} else {
		p.known = append(p.known, transcript.ContentKey(it))
	}
}

// lay notes what each piece of a request is that was read as a whole.
func (c *contents) lay(pieces []transcript.BodyID, cuts []int, ends map[string][]int) {
	slots := map[int]slot{} // by where they end
	for member, list := range ends {
		for i, end := range list {
			slots[end] = slot{member, i}
		}
	}
	c.where = map[slot]transcript.BodyID{}
	c.sent.pieces = make(map[transcript.BodyID]sentPiece, len(pieces))
	firsts := make(map[transcript.BodyID]slot, len(pieces)) // a piece may be there more than once
	member := ""                                            // of the piece behind
	for i := len(pieces) - 1; i >= 0; i-- {
		at, element := slots[cuts[i]]
		if element {
			member = at.member
			c.where[at], firsts[pieces[i]] = pieces[i], at
		}
		c.sent.pieces[pieces[i]] = sentPiece{member: member, element: element}
		if !element {
			member = ""
		}
	}
	for i := range c.turn.Input {
		it := &c.turn.Input[i]
		member, index, _ := dialect.ElementAt(it.At)
		at := slot{member, index}
		if id, ok := c.where[at]; ok && firsts[id] == at {
			p := c.sent.pieces[id]
			p.add(it)
			c.sent.pieces[id] = p
		}
	}
}

// excerpt reads an exchange but for the elements of its request that the one
// before sent too. It gives nil where that is not possible: the request is cut
// otherwise, or holds again as something new what was sent before.
func (x *textReader) excerpt(ctx context.Context, r transcript.Reader, e *transcript.Exchange, before *sent) (*contents, error) {
	if before.pieces == nil || e.Request.ContentEncoding != "" || e.Link.Shared == 0 {
		return nil, nil
	}
	pieces, err := r.Segments(ctx, e.Request.Body)
	if err != nil {
		return nil, err
	}
	x.frame = x.frame[:0]
	ex := excerpt{e: e, before: before, frame: x.frame, where: map[slot]transcript.BodyID{},
		sent: &sent{known: transcript.Known{}, pieces: make(map[transcript.BodyID]sentPiece, len(pieces))}}
	for i, id := range pieces {
		if ex.skip(id) {
			continue
		}
		piece, err := history.Segment(ctx, r, id)
		if err != nil || !ex.take(id, piece, i == 0) {
			return nil, ctx.Err()
		}
	}
	x.frame = ex.frame
	return ex.finish(ctx, r)
}

// excerpt is an exchange that is read in part.
type excerpt struct {
	e       *transcript.Exchange
	before  *sent
	frame   []byte // the request without any elements
	members []string
	member  string // the array that is gone through, "" for none
	index   int    // of its next element
	chain   int    // items in the chain so far
	skipped int    // of these
	input   []transcript.Item
	where   map[slot]transcript.BodyID
	sent    *sent
}

// skip passes over an element that was sent before and is not new.
func (x *excerpt) skip(id transcript.BodyID) bool {
	p, ok := x.before.pieces[id]
	if !ok || !p.element || p.member != x.member || p.chain > 0 && x.chain+p.chain > x.e.Link.Shared {
		return false
	}
	x.chain, x.skipped, x.index = x.chain+p.chain, x.skipped+p.chain, x.index+1
	x.sent.pieces[id] = p
	for _, key := range p.known {
		x.sent.known[key] = true
	}
	return true
}

// take reads a piece. It says false if it is neither an element nor what stands
// around arrays.
func (x *excerpt) take(id transcript.BodyID, piece []byte, first bool) bool {
	if trimmed := bytes.TrimLeft(piece, " \t\r\n"); first || len(trimmed) > 0 && trimmed[0] == ']' {
		x.frame = append(x.frame, piece...)
		x.member, x.index = arrayBehind(piece), 0
		if x.member != "" {
			x.members = append(x.members, x.member)
		}
		x.sent.pieces[id] = sentPiece{member: x.member}
		return true
	}
	items := dialect.DecodeElement(x.e.Dialect, "/"+x.member+"/"+strconv.Itoa(x.index), piece)
	if len(items) == 0 {
		return false
	}
	p := sentPiece{member: x.member, element: true}
	for i := range items {
		p.add(&items[i])
	}
	x.input = append(x.input, items...)
	x.sent.pieces[id], x.where[slot{x.member, x.index}] = p, id
	x.chain, x.index = x.chain+p.chain, x.index+1
	return true
}

// arrayBehind gives the name of the array that begins where a piece ends, "" if
// none does.
func arrayBehind(piece []byte) string {
	for _, end := range []string{"[", ":", `"`} {
		piece = bytes.TrimRight(piece, " \t\r\n")
		if !bytes.HasSuffix(piece, []byte(end)) {
			return ""
		}
		piece = piece[:len(piece)-1]
	}
	name := piece[bytes.LastIndexByte(piece, '"')+1:]
	if bytes.IndexByte(name, '\\') >= 0 {
		return ""
	}
	return string(name)
}

// finish reads what stands around the elements, and the answer.
func (x *excerpt) finish(ctx context.Context, r transcript.Reader) (*contents, error) {
	if !x.whole() {
		return nil, nil
	}
	w, err := wireOf(ctx, r, x.e)
	if err != nil {
		return nil, err
	}
	w.Request = bytes.Clone(x.frame) // items point into it
	turn := safely(x.e.Dialect, w, nil).Turn
	for i := range turn.Input {
		if turn.Input[i].InChain() { // what stands in no element would have to be counted
			return nil, nil
		}
	}
	turn.Input = append(turn.Input, x.input...)
	for key := range transcript.KnownOf(turn) {
		x.sent.known[key] = true
	}
	return &contents{turn: turn, shared: x.e.Link.Shared - x.skipped, where: x.where, sent: x.sent}, nil
}

// whole tells whether the frame is a request with just the arrays that were gone
// through.
func (x *excerpt) whole() bool {
	empty := dialect.Elements(x.e.Dialect, x.frame)
	for _, member := range x.members {
		list, ok := empty[member]
		if !ok || len(list) > 0 {
			return false
		}
		delete(empty, member) // so that none is there twice
	}
	return json.Valid(x.frame)
}
