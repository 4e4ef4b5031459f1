package dialect

import (
	"bytes"
	"hash/maphash"
	"slices"
	"strconv"
	"sync"

	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// Memory remembers the elements of requests with the items that were read from
// them, so that history that is sent again is read once. Elements are
// recognised by comparing all their bytes, most of them without being scanned
// or hashed before: the element that came next last time most likely comes next
// again. It keeps copies of its own and never a body. The zero Memory is ready,
// and a nil one remembers nothing; it may be used by several goroutines.
type Memory struct {
	// Limit is about how many bytes are kept, those used last; 0 means 64 MB.
	Limit int

	mu     sync.Mutex
	seed   maphash.Seed
	heads  map[series]*memo // stand before the first element of each list
	recent map[uint64]*memo
	older  map[uint64]*memo // go when recent is half of the limit
	size   int              // of recent
	turn   int              // how often recent has become older

	ended []*memo // those that have an input, the oldest first
	kept  int     // items in these inputs
}

const defaultMemory = 24 << 20 // the histories of some fifty agents, or of sixteen long ones

// series names the arrays, or texts, whose elements are read alike.
type series struct {
	dialect transcript.Dialect
	member  string
	text    bool
}

// at is the JSON pointer to an element.
func (s series) at(index int) string {
	if s.text {
		return "/" + s.member
	}
	return "/" + s.member + "/" + strconv.Itoa(index)
}

// memo is what is remembered of one element. Its fields belong to the Memory's
// lock; what they point to is never changed.
type memo struct {
	hash   uint64
	series series
	raw    []byte // an object or a text; nil once it is forgotten
	items  []transcript.Item
	keys   []transcript.Key
	index  int // of the element, in the items' At; of a head, how long its list was
	size   int
	turn   int    // of the Memory, when it came to the recent ones
	next   *memo  // what came after it last time
	input  *input // of the request whose history it ended
}

// trail follows one list of a request through the memory. A nil one finds
// nothing.
type trail struct {
	memory *Memory
	head   *memo
	at     *memo // what came last, nil if it is not remembered
	next   *memo // what is expected
	last   int   // how long the list was last time
}

func (m *Memory) trail(s series) *trail {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	head := m.head(s)
	return &trail{memory: m, head: head, at: head, next: head.next, last: head.index}
}

// start gives what stands before the first element of a list of that length.
func (m *Memory) start(s series, length int) *memo {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	head := m.head(s)
	head.index = length
	return head
}

// head does it under the lock.
func (m *Memory) head(s series) *memo {
	if m.heads == nil {
		m.seed = maphash.MakeSeed()
		m.heads = map[series]*memo{}
		m.recent = map[uint64]*memo{}
	}
	h := m.heads[s]
	if h == nil {
		h = &memo{series: s, hash: maphash.Comparable(m.seed, s)}
		m.heads[s] = h
	}
	return h
}

// length guesses how long the list is.
func (t *trail) length() int {
	const most = 4096
	if t == nil {
		return 0
	}
	return min(t.last, most) + 4
}

// expectOne does what expect does, with the lock.
func (t *trail) expectOne(b []byte, e *element) int {
	if t == nil {
		return 0
	}
	t.memory.mu.Lock()
	defer t.memory.mu.Unlock()
	return t.expect(b, e)
}

// expect finds the memo of the value that b begins with, if it is the one that
// is expected, and gives its length; else 0. The caller holds the lock.
func (t *trail) expect(b []byte, e *element) int {
	if t.next == nil {
		return 0
	}
	found := t.next
	t.next = found.next // in any case: where one element changed, the one behind it may not have
	if found.raw == nil || !bytes.HasPrefix(b, found.raw) {
		return 0
	}
	t.take(found, e)
	return len(found.raw)
}

// find finds the memo of a value.
func (t *trail) find(v []byte, e *element) {
	if t == nil {
		return
	}
	m := t.memory
	e.hash = maphash.Bytes(m.seed, v) ^ t.head.hash // equal bytes of different lists are not the same
	m.mu.Lock()
	defer m.mu.Unlock()
	found := m.lookup(e.hash, t.head.series, v)
	if found == nil {
		t.at = nil
		return
	}
	if t.at != nil {
		t.at.next = found
	}
	t.next = found.next
	t.take(found, e)
}

func (t *trail) take(found *memo, e *element) {
	t.memory.use(found)
	t.at = found
	e.memo, e.hash, e.items = found, found.hash, len(found.items)
}

func (m *Memory) lookup(hash uint64, s series, raw []byte) *memo {
	e := m.recent[hash]
	if e == nil {
		e = m.older[hash]
	}
	if e == nil || e.series != s || !bytes.Equal(e.raw, raw) {
		return nil
	}
	return e
}

// recall gives what is remembered of the element of that index, which comes
// after before. It is not ok if that was forgotten meanwhile.
func (m *Memory) recall(before, e *memo, index int) (items []transcript.Item, keys []transcript.Key, ok bool) {
	if e == nil {
		return nil, nil, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if e.raw == nil {
		return nil, nil, false
	}
	if e.index != index {
		e.items = moved(e.items, e.series.at(e.index), e.series.at(index))
		e.index = index
	}
	before.next = e
	return e.items, e.keys, true
}

// moved gives the same items at another place.
func moved(items []transcript.Item, from, to string) []transcript.Item {
	items = slices.Clone(items)
	for i := range items {
		items[i].At = to + items[i].At[len(from):]
	}
	return items
}

// takes tells whether an element can be remembered: in a body it must be known
// where it ends without reading on.
func (m *Memory) takes(v []byte) bool {
	return m != nil && (rawjson.IsObject(v) || rawjson.IsString(v)) && len(v) <= m.limit()/8
}

// remember keeps a new element, which comes after before.
func (m *Memory) remember(before, e *memo) *memo {
	e.series, e.size = before.series, 256+len(e.raw)+16*len(e.keys)
	for i := range e.items {
		it := &e.items[i]
		e.size += 256 + len(it.Text) + len(it.ArgumentsRaw) + len(it.Arguments) + len(it.At) + 80*len(it.Parts)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if same := m.lookup(e.hash, e.series, e.raw); same != nil {
		e = same // it stands twice in this request
	} else {
		m.add(e)
	}
	before.next = e
	return e
}

func (m *Memory) limit() int {
	if m.Limit > 0 {
		return m.Limit
	}
	return defaultMemory
}

func (m *Memory) add(e *memo) {
	if other := m.recent[e.hash]; other != nil {
		m.size -= other.size
		m.forget(other)
	}
	m.recent[e.hash], e.turn = e, m.turn
	m.size += e.size
	if m.size > m.limit()/2 {
		for _, e := range m.older {
			m.forget(e)
		}
		m.older, m.recent, m.size, m.turn = m.recent, map[uint64]*memo{}, 0, m.turn+1
	}
}

// use moves a memo to the recent ones.
func (m *Memory) use(e *memo) {
	if e.turn != m.turn && m.older[e.hash] == e {
		delete(m.older, e.hash)
		m.add(e)
	}
}

// forget lets go of all that a memo holds: others may still point to it.
func (m *Memory) forget(e *memo) {
	m.dropInput(e)
	e.raw, e.items, e.keys, e.next = nil, nil, nil, nil
}
