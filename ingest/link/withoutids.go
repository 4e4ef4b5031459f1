package link

import "github.com/retake-debugger/retake/transcript"

// keyWithoutID returns the key without call id of an item of the input that is in the
// chain. For most items that is the key they have.
func (d *Subject) keyWithoutID(i int) transcript.Key {
	if it := &d.Turn.Input[i]; it.CallID != "" {
		return transcript.KeyWithoutID(it)
	}
	return d.Keys[d.Where[i]]
}

// outputKeys are the keys of an answer's items.
type outputKeys struct {
	of               []transcript.Key // each item's
	keys, withoutIDs []transcript.Key // of those in the chain, with and without call ids
}

// output returns the keys of the answer. They are computed once.
func (d *Subject) output() *outputKeys {
	if d.out != nil {
		return d.out
	}
	d.out = &outputKeys{of: make([]transcript.Key, len(d.Turn.Output))}
	for i := range d.Turn.Output {
		it := &d.Turn.Output[i]
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
func (d *Subject) nodesWithoutIDs() []transcript.Node {
	if d.withoutIDs == nil && len(d.Keys) > 0 {
		keys := make([]transcript.Key, len(d.Keys))
		for i, where := range d.Where {
			if where >= 0 {
				keys[where] = d.keyWithoutID(i)
			}
		}
		d.withoutIDs = transcript.Chain(transcript.Node{}, keys)
	}
	return d.withoutIDs
}
