package ingest

import "github.com/retake-debugger/retake/transcript"

// looseKey is the key of an item of the input, which is in the chain, without
// its call id. Most items have none, and their key is known.
func (d *decoded) looseKey(i int) transcript.Key {
	if it := &d.turn.Input[i]; it.CallID != "" {
		return transcript.LooseKeyOf(it)
	}
	return d.keys[d.where[i]]
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
