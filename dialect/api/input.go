package api

import (
	"slices"

	"github.com/retake-debugger/retake/transcript"
)

// input is what a request was read into. When nobody uses it any more, the
// request that goes on from it takes it over: all but its end is there already.
type input struct {
	memos   []*Memo // of the elements that were read, in their order
	history inputMark
	items   []transcript.Item
	keys    []transcript.Key
	nodes   []transcript.Node
}

// inputMark is a place in an input: so many elements, items and keys come
// before.
type inputMark struct{ memos, items, keys int }

// MostInputItems bounds the items of all inputs that are kept: the histories of
// some forty agents.
const MostInputItems = 16 << 10

// reuse takes over the input that ends, as far as its history goes, with one of
// the elements from at on, and has the same ones before. It gives how many of
// these elements that covers.
func (r *Reader) reuse(at int) int {
	if r.memory == nil {
		return 0
	}
	in := r.memory.takeInput(r.memos, at)
	if in == nil {
		return 0
	}
	h := in.history
	r.Turn.Input, r.keys, r.nodes = in.items[:h.items], in.keys[:h.keys], in.nodes[:h.keys]
	return h.memos - at
}

func (m *Memory) takeInput(memos []*Memo, at int) *input {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := len(memos) - 1; i >= at; i-- {
		last := memos[i]
		if last == nil || last.input == nil || last.input.history.memos != i+1 || !slices.Equal(last.input.memos[:i+1], memos[:i+1]) {
			continue
		}
		in := last.input
		m.dropInput(last)
		return in
	}
	return nil
}

func (m *Memory) dropInput(last *Memo) {
	if last.input != nil {
		m.Kept -= cap(last.input.items)
		last.input = nil
	}
	if i := slices.Index(m.Ended, last); i >= 0 {
		m.Ended = slices.Delete(m.Ended, i, i+1)
	}
}

// Release gives the memory of a reading back. Nobody may use it, nor its Turn's
// Input, any more.
func (m *Memory) Release(r *Reading) {
	in := r.input
	r.input = nil
	if in == nil || in.history.memos == 0 || slices.Contains(in.memos[:in.history.memos], nil) {
		return
	}
	last := in.memos[in.history.memos-1]
	m.mu.Lock()
	defer m.mu.Unlock()
	if last.Raw == nil { // forgotten meanwhile
		return
	}
	m.dropInput(last)
	last.input = in
	m.Ended, m.Kept = append(m.Ended, last), m.Kept+cap(in.items)
	for m.Kept > MostInputItems && len(m.Ended) > 0 {
		m.dropInput(m.Ended[0])
	}
}
