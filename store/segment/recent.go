package segment

import "slices"

const (
	maxRecent    = 4096    // bodies that are remembered
	maxRecentIDs = 1 << 18 // and their segments
	maxMarks     = 64      // segments by which one body is found
	candidates   = 4       // bodies that are compared with a new one
)

// recentBody is a body whose recipe is remembered.
type recentBody struct {
	n, base int64
	step    int64
	ids     []ID
	marks   []ID // under which it is in latest
}

// Recent remembers the recipes written last, to find the body that a new one
// is best told as a change of.
//
// The step before in the same conversation is the one that introduced the newest
// of the segments that the new body resends. So a body is found by the segments
// that it introduced.
type Recent struct {
	byN    map[int64]*recentBody
	latest map[ID]*recentBody
	queue  []*recentBody // oldest first
	size   int           // segments in all recipes
}

// NewRecent remembers no bodies yet.
func NewRecent() *Recent {
	r := &Recent{}
	r.Forget()
	return r
}

// Forget drops everything.
func (r *Recent) Forget() {
	r.byN, r.latest = map[int64]*recentBody{}, map[ID]*recentBody{}
	r.queue, r.size = nil, 0
}

// remember keeps a body. fresh are the segments that it introduced.
func (r *Recent) remember(b *recentBody, fresh []ID) {
	if len(fresh) == 0 {
		fresh = []ID{slices.Max(b.ids)}
	}
	b.marks = fresh[max(0, len(fresh)-maxMarks):]
	for _, id := range b.marks {
		r.latest[id] = b
	}
	r.byN[b.n] = b
	r.queue = append(r.queue, b)
	r.size += len(b.ids)
	for len(r.queue) > 1 && (len(r.queue) > maxRecent || r.size > maxRecentIDs) {
		r.drop(r.queue[0])
		r.queue[0] = nil
		r.queue = r.queue[1:]
	}
}

func (r *Recent) drop(b *recentBody) {
	for _, id := range b.marks {
		if r.latest[id] == b {
			delete(r.latest, id)
		}
	}
	delete(r.byN, b.n)
	r.size -= len(b.ids)
}

// like returns the remembered body that ids differ least from, or nil.
func (r *Recent) like(ids []ID) *recentBody {
	var newest [candidates]ID // descending
	found := 0
	for _, id := range slices.Backward(ids) { // the newest are most likely at the end
		if found == candidates && id <= newest[found-1] || r.latest[id] == nil || slices.Contains(newest[:found], id) {
			continue
		}
		at, _ := slices.BinarySearchFunc(newest[:found], id, func(a, b ID) int { return int(b - a) })
		if found < candidates {
			found++
		}
		copy(newest[at+1:found], newest[at:found-1])
		newest[at] = id
	}
	var best *recentBody
	least := 0
	for _, id := range newest[:found] {
		b := r.latest[id]
		if b == best {
			continue
		}
		if own := difference(b.ids, ids); best == nil || own < least {
			best, least = b, own
		}
	}
	return best
}

// difference counts the segments of ids that a delta against base must list.
func difference(base, ids []ID) int {
	head := commonPrefix(base, ids)
	base, ids = base[head:], ids[head:]
	tail := commonSuffix(base, ids)
	base, ids = base[:len(base)-tail], ids[:len(ids)-tail]
	n := len(ids)
	for i := 0; i < len(ids) && i < len(base); i++ {
		if ids[i] == base[i] {
			n--
		}
	}
	return n
}
