package transcript

// Origin says where an item of a step's input comes from, against the step
// before: its input and its output.
type Origin string

// The origins of items.
const (
	Kept      Origin = "kept"      // the step before had it, and it means the same
	Rewritten Origin = "rewritten" // it stands where the step before had another one of its kind
	New       Origin = "new"       // the step before did not have it
	Dropped   Origin = "dropped"   // the step before had it, and this one has not
)

// Provenance is one item by its origin. Item is its index in the step's input,
// Was its index in the history before; -1 where it is not there.
type Provenance struct {
	Item, Was int
	Origin    Origin
}

// Compare tells, for a step against the history before it, what is new, kept,
// rewritten and dropped: in the order of the step, what was dropped where it
// would stand. Items are the same if their keys are; it costs what is between the
// first and the last difference, that squared at most where little is alike,
// and no more than mostCompared of either side are held against each other.
func Compare(before, now []Item) []Provenance {
	a, b := itemKeys(before), itemKeys(now)
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	list := make([]Provenance, 0, len(b)+8)
	for i := range start {
		list = append(list, Provenance{i, i, Kept})
	}
	p := comparison{before: before, now: now, list: list}
	i, k := start, start
	for _, m := range alike(a[start:len(a)-end], b[start:len(b)-end]) {
		p.differ(i, start+m[0], k, start+m[1])
		p.list = append(p.list, Provenance{start + m[1], start + m[0], Kept})
		i, k = start+m[0]+1, start+m[1]+1
	}
	p.differ(i, len(a)-end, k, len(b)-end)
	for n := end; n > 0; n-- {
		p.list = append(p.list, Provenance{len(b) - n, len(a) - n, Kept})
	}
	return p.list
}

// itemKeys are the keys by which items are the same. Settings and reasoning have
// keys too, though no history is found by them.
func itemKeys(items []Item) []Key {
	keys := make([]Key, len(items))
	for i := range items {
		keys[i] = KeyOf(&items[i])
	}
	return keys
}

type comparison struct {
	before, now []Item
	list        []Provenance
}

// differ tells of before[i:iEnd] and now[k:kEnd], which have nothing in common:
// items of one kind, role and call in the same order were rewritten.
func (c *comparison) differ(i, iEnd, k, kEnd int) {
	for k < kEnd {
		was := -1
		for n := i; n < iEnd && was < 0; n++ {
			if replaces(&c.before[n], &c.now[k]) {
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

// replaces tells whether an item can be another version of one: of the same
// kind and role, and of the same call.
func replaces(was, now *Item) bool {
	if was.Kind != now.Kind || was.Role != now.Role && was.Kind != ToolResult {
		return false
	}
	switch was.Kind {
	case ToolCall, ToolDefinition:
		return was.Name == now.Name && (was.CallID == now.CallID || was.Kind == ToolCall && LooseKeyOf(was) == LooseKeyOf(now))
	case ToolResult:
		return was.CallID == now.CallID
	}
	return true
}

// mostCompared bounds how many items of either side are held against each other.
const mostCompared = 2000

// alike finds the longest common subsequence, as pairs of indexes.
func alike(a, b []Key) [][2]int {
	if len(a) == 0 || len(b) == 0 || len(a) > mostCompared || len(b) > mostCompared {
		return nil
	}
	width := len(b) + 1
	length := make([]uint16, (len(a)+1)*width)
	for i := len(a) - 1; i >= 0; i-- {
		for k := len(b) - 1; k >= 0; k-- {
			if a[i] == b[k] {
				length[i*width+k] = length[(i+1)*width+k+1] + 1
			} else {
				length[i*width+k] = max(length[(i+1)*width+k], length[i*width+k+1])
			}
		}
	}
	var pairs [][2]int
	for i, k := 0, 0; i < len(a) && k < len(b); {
		switch {
		case a[i] == b[k]:
			pairs = append(pairs, [2]int{i, k})
			i, k = i+1, k+1
		case length[(i+1)*width+k] >= length[i*width+k+1]:
			i++
		default:
			k++
		}
	}
	return pairs
}
