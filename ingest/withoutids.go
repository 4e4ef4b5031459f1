package ingest

import "github.com/retake-debugger/retake/transcript"

// keyWithoutID returns the key without call id of an item of the input that is in the
// chain. For most items that is the key they have.
func (d *decoded) keyWithoutID(i int) transcript.Key {
	if it := &d.turn.Input[i]; it.CallID != "" {
		return transcript.KeyWithoutID(it)
	}
	return d.keys[d.where[i]]
}

// outputKeys are the keys of an answer's items.
type outputKeys struct {
	of               []transcript.Key // each item's
	keys, withoutIDs []transcript.Key // of those in the chain, with and without call ids
}

// output returns the keys of the answer. They are computed once.
func (d *decoded) output() *outputKeys {
	if d.out != nil {
		return d.out
	}
	d.out = &outputKeys{of: make([]transcript.Key, len(d.turn.Output))}
	for i := range d.turn.Output {
		it := &d.turn.Output[i]
		key := transcript.KeyOf(it)
		d.out.of[i] = key
		if !it.InChain() {
			continue
		}
		d.out.keys = append(d.out.keys, key)
		if it.CallID != "" {
			key = transcript.KeyWithoutID(it)
		}
		d.out.withoutIDs = append(d.out.withoutIDs, key)
	}
	return d.out
}

// nodesWithoutIDs returns the chain of the input without call ids. It is computed
// once.
func (d *decoded) nodesWithoutIDs() []transcript.Node {
	if d.withoutIDs == nil && len(d.keys) > 0 {
		keys := make([]transcript.Key, len(d.keys))
		for i, where := range d.where {
			if where >= 0 {
				keys[where] = d.keyWithoutID(i)
			}
		}
		d.withoutIDs = transcript.Chain(transcript.Node{}, keys)
	}
	return d.withoutIDs
}
