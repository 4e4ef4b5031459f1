package dialect

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// Reading is an exchange that was decoded with a Memory.
type Reading struct {
	Turn *transcript.Turn
	Keys []transcript.Key // transcript.Keys of the input
	Cuts []int            // what Split gives for the request body

	// Marks are of the pieces between the Cuts; there may be none.
	Marks []Mark

	// Nodes is the transcript.Chain of Keys.
	Nodes []transcript.Node

	input *input
}

// Mark stands for the bytes of a piece: two pieces of one length with the same
// Mark are equal. The zero Mark says nothing.
type Mark struct{ memo *memo }

// Read gives what Decode and Split give, in one scan of the request. The Turn
// shares memory with w's bodies and with m: nothing in it may be changed.
func (m *Memory) Read(d transcript.Dialect, w *Wire) *Reading {
	r := newReader(d, w)
	r.memory = m
	r.decode()
	if r.memory == nil {
		r.keys = transcript.Keys(r.turn.Input)
	}
	if r.cuts == nil {
		r.cuts = Split(d, w.Request)
	}
	nodes := r.nodes
	if n := len(nodes); n == 0 {
		nodes = transcript.Chain(transcript.Node{}, r.keys)
	} else {
		nodes = append(nodes, transcript.Chain(nodes[n-1], r.keys[n:])...)
	}
	reading := &Reading{Turn: r.turn, Keys: r.keys, Cuts: r.cuts, Marks: r.marks, Nodes: nodes}
	if r.memory != nil {
		reading.input = &input{memos: r.memos, history: r.history, items: r.turn.Input, keys: r.keys, nodes: nodes}
	}
	return reading
}

// request reads the request body.
func (r *reader) request(read decoder) {
	body := r.unmarked(r.wire.Request, "request")
	if len(body) == 0 {
		return
	}
	o, end, ok := outlineOf(r.api, body, r.memory)
	if ok {
		if rawjson.SkipSpace(body, end) < len(body) {
			r.behind(len(body)-end, "request")
		}
	} else {
		r.memory = nil // what is mended is not worth it
		v, _ := r.json(body, "request")
		o, _, _ = outlineOf(r.api, v, nil)
	}
	read.Request(&o)
	r.parameters(&o)
	if r.memory != nil && len(body) == len(r.wire.Request) {
		r.cuts, r.marks = o.cuts()
	}
}

// parameters keeps the members that were not read into items.
func (r *reader) parameters(o *outline) {
	for i := range o.members {
		m := &o.members[i]
		if m.read {
			continue
		}
		if r.turn.Parameters == nil {
			r.turn.Parameters = make(map[string]json.RawMessage, len(o.members))
		}
		r.turn.Parameters[string(m.name)] = m.value
	}
}

// common reads the members that the requests of all dialects have.
func (r *reader) common(o *outline) {
	for _, m := range o.members {
		switch string(m.name) {
		case "model":
			r.turn.Model = rawjson.String(m.value)
		case "stream": // until there is an answer that shows it
			if len(r.wire.Response) == 0 {
				r.turn.Stream = string(m.value) == "true"
			}
		}
	}
}

// each reads a list of the request: the elements of an array, or a text in its
// place. text may be nil where a text says nothing.
func (r *reader) each(o *outline, name string, element, text func(v []byte, at string)) {
	m := o.find(name)
	if m == nil {
		return
	}
	s, read := series{r.turn.Dialect, name, rawjson.IsString(m.value)}, element
	if s.text {
		read = text
	}
	if read == nil {
		return
	}
	m.read = true
	at := len(r.memos)
	for i := range m.list {
		r.memos = append(r.memos, m.list[i].memo)
	}
	grows, known := !s.text && r.api.grows(name), 0
	if grows {
		known = r.reuse(at)
	}
	items := 0
	for i := known; i < len(m.list); i++ {
		items += m.list[i].items
	}
	r.turn.Input = slices.Grow(r.turn.Input, items)
	before := r.memory.start(s, len(m.list))
	for i := range m.list {
		if i < known {
			before = r.memos[at+i]
			continue
		}
		before, m.list[i].memo = r.element(o.body, &m.list[i], before, s, i, read)
		r.memos[at+i] = m.list[i].memo
	}
	if grows {
		r.history = inputMark{len(r.memos), len(r.turn.Input), len(r.keys)}
	}
}

// element reads one element or recalls it, and gives the memo that stands
// before the next one, and its own, nil if it has none.
func (r *reader) element(body []byte, e *element, before *memo, s series, index int, read func(v []byte, at string)) (last, own *memo) {
	if items, keys, ok := r.memory.recall(before, e.memo, index); ok {
		r.turn.Input = append(r.turn.Input, items...)
		r.keys = append(r.keys, keys...)
		return e.memo, e.memo
	}
	v := body[e.start:e.end:e.end]
	keep := r.memory.takes(v)
	if keep {
		v = bytes.Clone(v)
	}
	first, warned := len(r.turn.Input), r.warned
	read(v, s.at(index))
	if r.memory == nil {
		return before, nil
	}
	items := r.turn.Input[first:]
	keys := transcript.Keys(items)
	r.keys = append(r.keys, keys...)
	if !keep || r.warned > warned { // a warning speaks of one place in one body
		return before, nil
	}
	own = r.memory.remember(before, &memo{hash: e.hash, raw: v, items: slices.Clone(items), keys: keys, index: index})
	return own, own
}
