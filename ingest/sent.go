package ingest

import (
	"bytes"
	"context"
	"strconv"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// sent is what an exchange sent, by the segments of its stored request. The next step
// of the run sends nearly all of them again, and they need not be read again.
type sent struct {
	known    transcript.Known                  // nil if nothing is known
	segments map[transcript.BodyID]sentSegment // nil if they are not the request's elements
}

// sentSegment is an element of one of the request's large arrays, or the text before
// such an array or after the last one.
type sentSegment struct {
	member  string // the array
	element bool
	chain   int              // its items in the chain
	known   []transcript.Key // of its other items
}

// slot is the place of an element.
type slot struct {
	member string
	index  int
}

// add records an item of an element.
func (p *sentSegment) add(it *transcript.Item) {
	if it.InChain() {
		p.chain++
	} else {
		p.known = append(p.known, transcript.ContentKey(it))
	}
}

// lay records what each segment of a request is that was read as a whole.
func (c *contents) lay(segments []transcript.BodyID, cuts []int, ends map[string][]int) {
	slots := map[int]slot{} // by their ends
	for member, list := range ends {
		for i, end := range list {
			slots[end] = slot{member, i}
		}
	}
	c.where = map[slot]transcript.BodyID{}
	c.sent.segments = make(map[transcript.BodyID]sentSegment, len(segments))
	firsts := make(map[transcript.BodyID]slot, len(segments)) // a segment may be there more than once
	member := ""                                              // of the segment after it
	for i := len(segments) - 1; i >= 0; i-- {
		at, element := slots[cuts[i]]
		if element {
			member = at.member
			c.where[at], firsts[segments[i]] = segments[i], at
		}
		c.sent.segments[segments[i]] = sentSegment{member: member, element: element}
		if !element {
			member = ""
		}
	}
	for i := range c.turn.Input {
		it := &c.turn.Input[i]
		member, index, _ := dialect.ElementAt(it.At)
		at := slot{member, index}
		if id, ok := c.where[at]; ok && firsts[id] == at {
			p := c.sent.segments[id]
			p.add(it)
			c.sent.segments[id] = p
		}
	}
}

// excerpt reads an exchange without the elements of its request that its parent sent
// too. It returns nil where that is not possible: the request is cut differently, or
// sends an old element again as something new.
func (x *textReader) excerpt(ctx context.Context, r transcript.Reader, e *transcript.Exchange, before *sent) (*contents, error) {
	if before.segments == nil || e.Request.ContentEncoding != "" || e.Link.Shared == 0 {
		return nil, nil
	}
	segments, err := r.Segments(ctx, e.Request.Body)
	if err != nil {
		return nil, err
	}
	x.frame = x.frame[:0]
	ex := excerpt{e: e, before: before, frame: x.frame, where: map[slot]transcript.BodyID{},
		sent: &sent{known: transcript.Known{}, segments: make(map[transcript.BodyID]sentSegment, len(segments))}}
	for i, id := range segments {
		if ex.skip(id) {
			continue
		}
		segment, err := history.Segment(ctx, r, id)
		if err != nil || !ex.read(id, segment, i == 0) {
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
	member  string // the current array, "" for none
	index   int    // of its next element
	chain   int    // items in the chain so far
	skipped int    // of chain
	input   []transcript.Item
	where   map[slot]transcript.BodyID
	sent    *sent
}

// skip skips an element that was sent before and is not new.
func (x *excerpt) skip(id transcript.BodyID) bool {
	p, ok := x.before.segments[id]
	if !ok || !p.element || p.member != x.member || p.chain > 0 && x.chain+p.chain > x.e.Link.Shared {
		return false
	}
	x.chain, x.skipped, x.index = x.chain+p.chain, x.skipped+p.chain, x.index+1
	x.sent.segments[id] = p
	for _, key := range p.known {
		x.sent.known[key] = true
	}
	return true
}

// read reads a segment. It returns false if that is neither an element nor the text
// around arrays.
func (x *excerpt) read(id transcript.BodyID, segment []byte, first bool) bool {
	if trimmed := bytes.TrimLeft(segment, " \t\r\n"); first || len(trimmed) > 0 && trimmed[0] == ']' {
		x.frame = append(x.frame, segment...)
		x.member, x.index = arrayAfter(segment), 0
		if x.member != "" {
			x.members = append(x.members, x.member)
		}
		x.sent.segments[id] = sentSegment{member: x.member}
		return true
	}
	items := dialect.DecodeElement(x.e.Dialect, "/"+x.member+"/"+strconv.Itoa(x.index), segment)
	if len(items) == 0 {
		return false
	}
	p := sentSegment{member: x.member, element: true}
	for i := range items {
		p.add(&items[i])
	}
	x.input = append(x.input, items...)
	x.sent.segments[id], x.where[slot{x.member, x.index}] = p, id
	x.chain, x.index = x.chain+p.chain, x.index+1
	return true
}

// arrayAfter returns the name of the array that begins where a segment ends, "" if none
// does.
func arrayAfter(segment []byte) string {
	for _, end := range []string{"[", ":", `"`} {
		segment = bytes.TrimRight(segment, " \t\r\n")
		if !bytes.HasSuffix(segment, []byte(end)) {
			return ""
		}
		segment = segment[:len(segment)-1]
	}
	name := segment[bytes.LastIndexByte(segment, '"')+1:]
	if bytes.IndexByte(name, '\\') >= 0 {
		return ""
	}
	return string(name)
}

// finish reads the text around the elements and the answer.
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
		if turn.Input[i].InChain() { // an item in no element would have to be counted
			return nil, nil
		}
	}
	turn.Input = append(turn.Input, x.input...)
	for key := range transcript.KnownOf(turn) {
		x.sent.known[key] = true
	}
	return &contents{turn: turn, shared: x.e.Link.Shared - x.skipped, where: x.where, sent: x.sent}, nil
}

// whole reports whether the frame is a request with exactly the arrays that were read.
func (x *excerpt) whole() bool {
	empty := dialect.Elements(x.e.Dialect, x.frame)
	for _, member := range x.members {
		list, ok := empty[member]
		if !ok || len(list) > 0 {
			return false
		}
		delete(empty, member) // none may be there twice
	}
	return rawjson.Valid(x.frame)
}
