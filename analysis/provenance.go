package analysis

import "github.com/retake-debugger/retake/transcript"

// Origin says where an item of a step's input comes from, compared with the input
// and output of the step before.
type Origin string

// The origins of items.
const (
	Kept      Origin = "kept"      // the step before had it, and it means the same
	Rewritten Origin = "rewritten" // the step before had another one of its kind there
	New       Origin = "new"       // the step before did not have it
	Dropped   Origin = "dropped"   // the step before had it, and this one does not
)

// Provenance is one item with its origin. Item is its index in the step's input,
// Was its index in the history before; -1 if it is not there.
type Provenance struct {
	Item, Was int
	Origin    Origin
}

// Compare returns, for a step and the history before it, what is new, kept,
// rewritten and dropped, in the order of the step. What was dropped is listed where
// it would stand. Items with equal keys are the same; see Align.
func Compare(before, now []transcript.Item) []Provenance {
	a, b := itemKeys(before), itemKeys(now)
	p := comparison{before: before, now: now, list: make([]Provenance, 0, len(b)+8)}
	i, k := 0, 0
	for _, m := range Align(a, b) {
		p.differ(i, m[0], k, m[1])
		p.list = append(p.list, Provenance{m[1], m[0], Kept})
		i, k = m[0]+1, m[1]+1
	}
	p.differ(i, len(a), k, len(b))
	return p.list
}

// itemKeys returns the keys by which items are the same. Settings and reasoning
// have keys too, although histories are not found by them.
func itemKeys(items []transcript.Item) []transcript.Key {
	keys := make([]transcript.Key, len(items))
	for i := range items {
		if c := items[i].Cut; c != nil {
			keys[i] = c.Key
			continue
		}
		keys[i] = transcript.KeyOf(&items[i])
	}
	return keys
}

type comparison struct {
	before, now []transcript.Item
	list        []Provenance
	withoutID   map[*transcript.Item]transcript.Key // of calls
}

// differ compares before[i:iEnd] and now[k:kEnd], which have nothing in common:
// items of one kind, role and call in the same order were rewritten.
func (c *comparison) differ(i, iEnd, k, kEnd int) {
	for k < kEnd {
		was := -1
		for n := i; n < min(iEnd, i+mostCompared) && was < 0; n++ {
			if c.replaces(&c.before[n], &c.now[k]) {
				was = n
			}
		}
		if was < 0 {
			c.list = append(c.list, Provenance{k, -1, New})
			k++
			continue
		}
		for ; i < was; i++ {
			c.list = append(c.list, Provenance{-1, i, Dropped})
		}
		c.list = append(c.list, Provenance{k, was, Rewritten})
		i, k = was+1, k+1
	}
	for ; i < iEnd; i++ {
		c.list = append(c.list, Provenance{-1, i, Dropped})
	}
}

// replaces reports whether an item can be another version of one: it has the same
// kind and role, and belongs to the same call.
func (c *comparison) replaces(was, now *transcript.Item) bool {
	if was.Kind != now.Kind || was.Role != now.Role && was.Kind != transcript.ToolResult {
		return false
	}
	switch was.Kind {
	case transcript.ToolCall, transcript.ToolDefinition:
		return was.Name == now.Name && (was.CallID == now.CallID || was.Kind == transcript.ToolCall && c.keyWithoutID(was) == c.keyWithoutID(now))
	case transcript.ToolResult:
		return was.CallID == now.CallID
	}
	return true
}

func (c *comparison) keyWithoutID(it *transcript.Item) transcript.Key {
	key, ok := c.withoutID[it]
	if !ok {
		if c.withoutID == nil {
			c.withoutID = map[*transcript.Item]transcript.Key{}
		}
		key = transcript.KeyWithoutID(it)
		c.withoutID[it] = key
	}
	return key
}

// mostCompared bounds how many items are searched for the one that another
// replaces.
const mostCompared = 2000
