package api

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
type Mark struct{ memo *Memo }

// Read returns what Decode and Split give, in one scan of the request. The Turn
// shares memory with w's bodies and with m: nothing in it may be changed.
func (l List) Read(m *Memory, d transcript.Dialect, w *Wire) *Reading {
	r := newReader(l, d, w)
	r.memory = m
	r.decode()
	if r.memory == nil {
		r.keys = transcript.Keys(r.Turn.Input)
	}
	if r.cuts == nil {
		r.cuts = l.Split(d, w.Request)
	}
	nodes := r.nodes
	if n := len(nodes); n == 0 {
		nodes = transcript.Chain(transcript.Node{}, r.keys)
	} else {
		nodes = append(nodes, transcript.Chain(nodes[n-1], r.keys[n:])...)
	}
	reading := &Reading{Turn: r.Turn, Keys: r.keys, Cuts: r.cuts, Marks: r.marks, Nodes: nodes}
	if r.memory != nil {
		reading.input = &input{memos: r.memos, history: r.history, items: r.Turn.Input, keys: r.keys, nodes: nodes}
	}
	return reading
}

// request reads the request body.
func (r *Reader) request(read Decoder) {
	body := r.unmarked(r.Wire.Request, "request")
	if len(body) == 0 {
		return
	}
	o, end, ok := OutlineOf(r.api, body, r.memory)
	if ok {
		if rawjson.SkipSpace(body, end) < len(body) {
			r.behind(len(body)-end, "request")
		}
	} else {
		r.memory = nil // what is mended is not worth it
		v, _ := r.json(body, "request")
		o, _, _ = OutlineOf(r.api, v, nil)
	}
	read.Request(&o)
	r.parameters(&o)
	if r.memory != nil && len(body) == len(r.Wire.Request) {
		r.cuts, r.marks = o.cuts()
	}
}

// parameters keeps the members that were not read into items.
func (r *Reader) parameters(o *Outline) {
	for i := range o.Members {
		m := &o.Members[i]
		if m.read {
			continue
		}
		if r.Turn.Parameters == nil {
			r.Turn.Parameters = make(map[string]json.RawMessage, len(o.Members))
		}
		r.Turn.Parameters[string(m.name)] = m.value
	}
}

// Common reads the members that the requests of all dialects have.
func (r *Reader) Common(o *Outline) {
	for _, m := range o.Members {
		switch string(m.name) {
		case "model":
			r.Turn.Model = rawjson.String(m.value)
		case "stream": // until there is an answer that shows it
			if len(r.Wire.Response) == 0 {
				r.Turn.Stream = string(m.value) == "true"
			}
		}
	}
}

// Each reads a list of the request: the elements of an array, or a text in its
// place. text may be nil where a text says nothing.
func (r *Reader) Each(o *Outline, name string, element, text func(v []byte, at string)) {
	m := o.find(name)
	if m == nil {
		return
	}
	s, read := Series{r.Turn.Dialect, name, rawjson.IsString(m.value)}, element
	if s.text {
		read = text
	}
	if read == nil {
		return
	}
	m.read = true
	at := len(r.memos)
	for i := range m.List {
		r.memos = append(r.memos, m.List[i].Memo)
	}
	grows, known := !s.text && r.api.Grows(name), 0
	if grows {
		known = r.reuse(at)
	}
	items := 0
	for i := known; i < len(m.List); i++ {
		items += m.List[i].items
	}
	r.Turn.Input = slices.Grow(r.Turn.Input, items)
	before := r.memory.start(s, len(m.List))
	for i := range m.List {
		if i < known {
			before = r.memos[at+i]
			continue
		}
		before, m.List[i].Memo = r.element(o.body, &m.List[i], before, s, i, read)
		r.memos[at+i] = m.List[i].Memo
	}
	if grows {
		r.history = inputMark{len(r.memos), len(r.Turn.Input), len(r.keys)}
	}
}

// element reads one element or recalls it, and gives the memo that stands
// before the next one, and its own, nil if it has none.
func (r *Reader) element(body []byte, e *element, before *Memo, s Series, index int, read func(v []byte, at string)) (last, own *Memo) {
	if items, keys, ok := r.memory.recall(before, e.Memo, index); ok {
		r.Turn.Input = append(r.Turn.Input, items...)
		r.keys = append(r.keys, keys...)
		return e.Memo, e.Memo
	}
	v := body[e.Start:e.End:e.End]
	keep := r.memory.takes(v)
	if keep {
		v = bytes.Clone(v)
	}
	first, warned := len(r.Turn.Input), r.warned
	read(v, s.at(index))
	if r.memory == nil {
		return before, nil
	}
	items := r.Turn.Input[first:]
	keys := transcript.Keys(items)
	r.keys = append(r.keys, keys...)
	if !keep || r.warned > warned { // a warning speaks of one place in one body
		return before, nil
	}
	own = r.memory.remember(before, &Memo{hash: e.hash, Raw: v, Items: slices.Clone(items), keys: keys, index: index})
	return own, own
}
