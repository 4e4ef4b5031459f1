package ingest

import "github.com/retake-debugger/retake/transcript"

// looseKey is the key of an item of the input, which is in the chain, without
// its call id. Most items have none, and their key is known.
func (d *decoded) looseKey(i int) transcript.Key {
	if it := &d.turn.Input[i]; it.CallID != "" {
		return transcript.KeyWithoutID(it)
	}
	return d.keys[d.where[i]]
}

// outputKeys are the keys of an answer's items.
type outputKeys struct {
	of          []transcript.Key // each item's
	keys, loose []transcript.Key // of those in the chain, and without their call ids
}

// output makes the keys of the answer, once.
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
		d.out.loose = append(d.out.loose, key)
	}
	return d.out
}

// looseNodes gives the chain of the input without call ids. It is made once.
func (d *decoded) looseNodes() []transcript.Node {
	if d.loose == nil && len(d.keys) > 0 {
		keys := make([]transcript.Key, len(d.keys))
		for i, where := range d.where {
			if where >= 0 {
				keys[where] = d.looseKey(i)
			}
		}
		d.loose = transcript.Chain(transcript.Node{}, keys)
	}
	return d.loose
}
