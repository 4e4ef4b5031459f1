package api

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
	Heads  map[Series]*Memo // stand before the first element of each list
	Recent map[uint64]*Memo
	Older  map[uint64]*Memo // go when recent is half of the limit
	Size   int              // of recent
	turn   int              // how often recent has become older

	Ended []*Memo // those that have an input, the oldest first
	Kept  int     // items in these inputs
}

const defaultMemory = 24 << 20 // the histories of some fifty agents, or of sixteen long ones

// Series names the arrays, or texts, whose elements are read alike.
type Series struct {
	dialect transcript.Dialect
	member  string
	text    bool
}

// at is the JSON pointer to an element.
func (s Series) at(index int) string {
	if s.text {
		return "/" + s.member
	}
	return "/" + s.member + "/" + strconv.Itoa(index)
}

// Memo is what is remembered of one element. Its fields belong to the Memory's
// lock; what they point to is never changed.
type Memo struct {
	hash   uint64
	series Series
	Raw    []byte // an object or a text; nil once it is forgotten
	Items  []transcript.Item
	keys   []transcript.Key
	index  int // of the element, in the items' At; of a head, how long its list was
	size   int
	turn   int    // of the Memory, when it came to the recent ones
	Next   *Memo  // what came after it last time
	input  *input // of the request whose history it ended
}

// trail follows one list of a request through the memory. A nil one finds
// nothing.
type trail struct {
	memory *Memory
	head   *Memo
	at     *Memo // what came last, nil if it is not remembered
	next   *Memo // what is expected
	last   int   // how long the list was last time
}

func (m *Memory) trail(s Series) *trail {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	head := m.head(s)
	return &trail{memory: m, head: head, at: head, next: head.Next, last: head.index}
}

// start gives what stands before the first element of a list of that length.
func (m *Memory) start(s Series, length int) *Memo {
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
func (m *Memory) head(s Series) *Memo {
	if m.Heads == nil {
		m.seed = maphash.MakeSeed()
		m.Heads = map[Series]*Memo{}
		m.Recent = map[uint64]*Memo{}
	}
	h := m.Heads[s]
	if h == nil {
		h = &Memo{series: s, hash: maphash.Comparable(m.seed, s)}
		m.Heads[s] = h
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
	t.next = found.Next // in any case: where one element changed, the one behind it may not have
	if found.Raw == nil || !bytes.HasPrefix(b, found.Raw) {
		return 0
	}
	t.take(found, e)
	return len(found.Raw)
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
		t.at.Next = found
	}
	t.next = found.Next
	t.take(found, e)
}

func (t *trail) take(found *Memo, e *element) {
	t.memory.use(found)
	t.at = found
	e.Memo, e.hash, e.items = found, found.hash, len(found.Items)
}

func (m *Memory) lookup(hash uint64, s Series, raw []byte) *Memo {
	e := m.Recent[hash]
	if e == nil {
		e = m.Older[hash]
	}
	if e == nil || e.series != s || !bytes.Equal(e.Raw, raw) {
		return nil
	}
	return e
}

// recall gives what is remembered of the element of that index, which comes
// after before. It is not ok if that was forgotten meanwhile.
func (m *Memory) recall(before, e *Memo, index int) (items []transcript.Item, keys []transcript.Key, ok bool) {
	if e == nil {
		return nil, nil, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if e.Raw == nil {
		return nil, nil, false
	}
	if e.index != index {
		e.Items = moved(e.Items, e.series.at(e.index), e.series.at(index))
		e.index = index
	}
	before.Next = e
	return e.Items, e.keys, true
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
func (m *Memory) remember(before, e *Memo) *Memo {
	e.series, e.size = before.series, 256+len(e.Raw)+16*len(e.keys)
	for i := range e.Items {
		it := &e.Items[i]
		e.size += 256 + len(it.Text) + len(it.ArgumentsRaw) + len(it.Arguments) + len(it.At) + 80*len(it.Parts)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if same := m.lookup(e.hash, e.series, e.Raw); same != nil {
		e = same // it stands twice in this request
	} else {
		m.add(e)
	}
	before.Next = e
	return e
}

func (m *Memory) limit() int {
	if m.Limit > 0 {
		return m.Limit
	}
	return defaultMemory
}

func (m *Memory) add(e *Memo) {
	if other := m.Recent[e.hash]; other != nil {
		m.Size -= other.size
		m.Forget(other)
	}
	m.Recent[e.hash], e.turn = e, m.turn
	m.Size += e.size
	if m.Size > m.limit()/2 {
		for _, e := range m.Older {
			m.Forget(e)
		}
		m.Older, m.Recent, m.Size, m.turn = m.Recent, map[uint64]*Memo{}, 0, m.turn+1
	}
}

// use moves a memo to the recent ones.
func (m *Memory) use(e *Memo) {
	if e.turn != m.turn && m.Older[e.hash] == e {
		delete(m.Older, e.hash)
		m.add(e)
	}
}

// Forget lets go of all that a memo holds: others may still point to it.
func (m *Memory) Forget(e *Memo) {
	m.dropInput(e)
	e.Raw, e.Items, e.keys, e.Next = nil, nil, nil, nil
}
