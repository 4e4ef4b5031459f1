package segment

// listChunk is how many segments a chunk of a list has.
const listChunk = 256

// afterCopy is for how many segments there is room after those that were copied:
// a step adds a few.
const afterCopy = 8

// List is a list of segments that is never changed. It is kept in chunks,
// which lists that begin alike share: the bodies of a run of n steps take O(n)
// memory together, and where two of them part is found without reading what
// they share.
type List struct {
	chunks [][]ID // all but the last have listChunk segments
	len    int
	own    int // segments in chunks that it shares with no list that it was made of
}

func (l *List) at(i int) ID { return l.chunks[i/listChunk][i%listChunk] }

// add adds a segment. Only the maker of the list may call it.
func (l *List) add(id ID) { l.addOf(id, 16) }

// addOf adds the first of so many segments.
func (l *List) addOf(id ID, many int) {
	if l.len%listChunk == 0 {
		l.chunks = append(l.chunks, make([]ID, 0, min(many, listChunk)))
	}
	last := &l.chunks[len(l.chunks)-1]
	*last = append(*last, id)
	l.len++
	l.own++
}

// copy adds segments of another list, sharing its chunks where they are whole
// and at the same place.
func (l *List) copy(from *List, start, end int) {
	for start < end {
		if start == l.len && start%listChunk == 0 && end-start >= listChunk {
			l.chunks = append(l.chunks, from.chunks[start/listChunk])
			l.len += listChunk
			start += listChunk
			continue
		}
		l.addOf(from.at(start), end-start+afterCopy)
		start++
	}
}

// behind returns the segments from the i-th on.
func (l *List) behind(i int) []ID {
	ids := make([]ID, 0, l.len-i)
	for k := i / listChunk; k < len(l.chunks); k++ {
		ids = append(ids, l.chunks[k][max(0, i-k*listChunk):]...)
	}
	return ids
}

// All returns all segments.
func (l *List) All() []ID { return l.behind(0) }

// sharedPrefix counts the segments that both lists begin with.
func sharedPrefix(a, b *List) int {
	for k := range min(len(a.chunks), len(b.chunks)) {
		one, other := a.chunks[k], b.chunks[k]
		if len(one) == listChunk && len(other) == listChunk && &one[0] == &other[0] {
			continue
		}
		if n := commonPrefix(one, other); n < listChunk {
			return k*listChunk + n
		}
	}
	return min(a.len, b.len)
}
