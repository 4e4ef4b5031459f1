package history

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// frame is a segment that lies between elements.
type frame struct {
	i  int // which of the request's segments it is
	id transcript.BodyID
}

// spot is a segment of a request, and its place.
type spot struct {
	id     transcript.BodyID
	member array
	index  int32
	chain  int32 // items in the chain up to its end
	nth    int32 // of an element of several segments: which of them it is, from 0
}

// prefix holds the segments that requests have in common. It only grows.
type prefix struct{ spots []spot }

// Request is what an exchange sent. Its segments are the first ones of a prefix, then
// its own; it has none if it was read whole.
type Request struct {
	Exchange   *transcript.Exchange
	prefix     *prefix
	shared     int // segments of the prefix that it begins with
	own        []spot
	frames     []frame           // its segments that lie between elements
	outside    []transcript.Item // items in no element
	before     int               // how many of them are in the chain
	PreviousID string            // the answer that it names as its history
	whole      []transcript.Item // of a request that was read whole
	// Parameters are those of its Turn.
	Parameters map[string]json.RawMessage
}

// InSegments reports whether the request was read segment by segment.
func (r *Request) InSegments() bool { return r.prefix != nil }

// Outside returns the items that lie in no element of a large array.
func (r *Request) Outside() []transcript.Item { return r.outside }

// size returns the number of segments.
func (r *Request) size() int { return r.shared + len(r.own) }

func (r *Request) spot(i int) *spot {
	if i < r.shared {
		return &r.prefix.spots[i]
	}
	return &r.own[i-r.shared]
}

// Request reads the request of an exchange.
func (q *Reader) Request(e *transcript.Exchange) (*Request, error) {
	for _, r := range slices.Backward(q.recent) {
		if r.Exchange.ID == e.ID {
			return r, nil
		}
	}
	r := &Request{Exchange: e}
	ok, err := q.bySegments(r)
	if err != nil {
		return nil, err
	}
	if !ok {
		if r, err = q.readWhole(e); err != nil {
			return nil, err
		}
	}
	q.remember(r)
	return r, nil
}

func (q *Reader) remember(r *Request) {
	if q.recent = append(q.recent, r); !r.InSegments() {
		q.wholes++
	}
	for len(q.recent) > keptRequests || q.wholes > keptWhole {
		i := 0
		if len(q.recent) <= keptRequests {
			i = slices.IndexFunc(q.recent, func(r *Request) bool { return !r.InSegments() })
		}
		if !q.recent[i].InSegments() {
			q.wholes--
		}
		q.recent = slices.Delete(q.recent, i, i+1)
	}
}

// readWhole reads a request that is not in segments.
func (q *Reader) readWhole(e *transcript.Exchange) (*Request, error) {
	turn, err := DecodeRequest(q.ctx, q.store, e)
	if err != nil {
		return nil, err
	}
	return &Request{Exchange: e, whole: turn.Input, PreviousID: turn.PreviousID, Parameters: turn.Parameters}, nil
}

// bySegments reads a request from its segments. It is not ok if they do not suffice.
func (q *Reader) bySegments(r *Request) (ok bool, err error) {
	e := r.Exchange
	if !MayBeInSegments(e) {
		return false, nil
	}
	like, ids, at, err := q.resume(r)
	if err != nil || r.shared+len(ids) < 2 {
		return false, nil // reading it whole returns what is wrong
	}
	r.own = make([]spot, 0, len(ids))
	defer q.readAhead(ids)()
	for len(ids) > 0 {
		p, n := q.next(ids, e.Dialect, at.member, r.size() == 0)
		if p == nil || !p.frame && at.member == 0 {
			return false, q.ctx.Err()
		}
		if p.frame {
			r.frames = append(r.frames, frame{r.size(), ids[0]})
			r.own = append(r.own, spot{id: ids[0], chain: at.chain})
			at.member, at.index = p.opens, -1
		} else {
			at.index++
			at.chain += int32(p.chain)
			for k, id := range ids[:n] {
				at.id, at.nth = id, int32(k)
				r.own = append(r.own, at)
			}
		}
		ids = ids[n:]
	}
	return q.readOutside(r, like), nil
}

// MayBeInSegments reports whether the request of an exchange may be read segment by
// segment.
func MayBeInSegments(e *transcript.Exchange) bool {
	r := &e.Request
	return r.ContentEncoding == "" && (r.Omitted == "" || r.Omitted == "secrets") && r.Bytes > 0 && r.Bytes <= MaxBody && e.Dialect != transcript.Unknown
}

// resume begins a request with the segments that it shares with one read before,
// preferably the one that it continues. It returns that one, the segments after them,
// and where these begin.
func (q *Reader) resume(r *Request) (like *Request, ids []transcript.BodyID, at spot, err error) {
	at = spot{index: -1}
	r.prefix = &prefix{}
	if like = q.nearest(r.Exchange); like == nil {
		ids, err = q.store.Segments(q.ctx, r.Exchange.Request.Body)
		return nil, ids, at, err
	}
	same, ids, err := q.store.SegmentsAfter(q.ctx, r.Exchange.Request.Body, like.Exchange.Request.Body)
	for same > 0 && same < like.size() && like.spot(same).nth > 0 { // an element that only begins alike is another one
		same--
		ids = slices.Insert(ids, 0, like.spot(same).id)
	}
	if err != nil || same == 0 {
		return nil, ids, at, err
	}
	r.prefix, r.shared = like.prefix, same
	for _, g := range like.frames {
		if g.i < same {
			r.frames = append(r.frames, g)
		}
	}
	if more := same - like.shared; more > 0 {
		if len(r.prefix.spots) > like.shared { // others continue from there
			r.prefix = &prefix{spots: slices.Clone(r.prefix.spots[:like.shared])}
		}
		r.prefix.spots = append(r.prefix.spots, like.own[:more]...)
	}
	if at = *r.spot(same - 1); at.member == 0 {
		at.member, at.index = q.frame(at.id).opens, -1
	}
	return like, ids, at, nil
}

// nearest returns the request read before that e is most likely to resend.
func (q *Reader) nearest(e *transcript.Exchange) *Request {
	var last *Request
	for _, r := range slices.Backward(q.recent) {
		switch {
		case !r.InSegments() || r.Exchange.Dialect != e.Dialect:
		case r.Exchange.ID == e.Link.Parent:
			return r
		case last == nil || last.Exchange.Link.Agent != e.Link.Agent && r.Exchange.Link.Agent == e.Link.Agent:
			last = r
		}
	}
	return last
}

// readOutside decodes what lies between the elements: a request whose large arrays are
// empty.
func (q *Reader) readOutside(r, like *Request) bool {
	e := r.Exchange
	if like != nil && like.Exchange.URL == e.URL && slices.EqualFunc(like.frames, r.frames, func(a, b frame) bool { return a.id == b.id }) {
		r.outside, r.before, r.PreviousID, r.Parameters = like.outside, like.before, like.PreviousID, like.Parameters
		return true
	}
	var body []byte
	for _, g := range r.frames {
		body = append(body, q.frame(g.id).text...)
	}
	if !rawjson.Valid(body) {
		return false
	}
	turn := Bodies{Request: body}.Decode(e)
	r.outside, r.PreviousID, r.Parameters = turn.Input, turn.PreviousID, turn.Parameters
	for i := range r.outside {
		if r.outside[i].InChain() {
			r.before++
		}
	}
	return true
}

// element returns the items of one element, with their pointers.
func (q *Reader) element(r *Request, i int) []transcript.Item { return q.add(nil, r, i) }

// add appends the items of one element, with their pointers.
func (q *Reader) add(items []transcript.Item, r *Request, i int) []transcript.Item {
	p := q.partAt(r, i)
	if p == nil {
		return items
	}
	return q.putAt(items, p.items, r.spot(i))
}

// putAt appends the items of an element at that spot.
func (q *Reader) putAt(items, more []transcript.Item, at *spot) []transcript.Item {
	had := len(items)
	items = append(items, more...)
	from, to := "/"+q.arrays.names[at.member]+"/0", "/"+q.arrays.names[at.member]+"/"+strconv.Itoa(int(at.index))
	for k := had; k < len(items); k++ {
		items[k].At = to + strings.TrimPrefix(items[k].At, from)
	}
	return items
}

// partAt returns an element with its items; nil for what lies between elements and for
// the further segments of a long one.
func (q *Reader) partAt(r *Request, i int) *part {
	p, ids := q.keptPart(r, i)
	if p != nil && p.forgot {
		p, _ = q.readPart(ids, r.Exchange.Dialect, r.spot(i).member, false)
	}
	return p
}

// keptPart returns an element as it is remembered, and its segments.
func (q *Reader) keptPart(r *Request, i int) (*part, []transcript.BodyID) {
	at := r.spot(i)
	if at.member == 0 || at.nth > 0 {
		return nil, nil
	}
	ids := []transcript.BodyID{at.id}
	for i++; i < r.size() && r.spot(i).nth > 0; i++ {
		ids = append(ids, r.spot(i).id)
	}
	return q.parts[keyOf(ids, r.Exchange.Dialect, at.member)], ids
}

// Items returns all items of a request.
func (q *Reader) Items(r *Request) []transcript.Item {
	if !r.InSegments() {
		return r.whole
	}
	items := slices.Clone(r.outside)
	for i := range r.size() {
		items = q.add(items, r, i)
	}
	return items
}

// CutItems returns all items of a request, cut.
func (q *Reader) CutItems(r *Request) []transcript.Item {
	if !r.InSegments() {
		return q.cutter.of(r.whole)
	}
	items := q.cutter.of(r.outside)
	for i := range r.size() {
		if p, _ := q.keptPart(r, i); p != nil {
			items = q.putAt(items, p.cut, r.spot(i))
		}
	}
	return items
}

// After returns the items of a request after its first items in the chain, that many;
// items beside the chain only from there on.
func (q *Reader) After(r *Request, chain int) []transcript.Item {
	if !r.InSegments() {
		return After(r.whole, chain)
	}
	var items []transcript.Item
	had := 0
	if chain < r.before {
		items, had = After(r.outside, chain), chain
	} else {
		had = r.before
	}
	first := r.size()
	for first > 0 && (r.spot(first-1).member == 0 || r.reaches(first-1, chain)) {
		first--
	}
	if first > 0 {
		had = r.before + int(r.spot(first-1).chain)
	}
	var more []transcript.Item
	for i := first; i < r.size(); i++ {
		if q.arrays.isHistory(r.spot(i).member) {
			more = q.add(more, r, i)
		}
	}
	if more = After(more, max(0, chain-had)); len(items) == 0 {
		return more
	}
	return append(items, more...)
}

// reaches reports whether an element ends or lies after the first items in the chain,
// that many; reasoning right after them does.
func (r *Request) reaches(element, chain int) bool {
	begin := r.before
	if element > 0 {
		begin += int(r.spot(element - 1).chain)
	}
	return r.before+int(r.spot(element).chain) > chain || begin >= chain
}

// After returns the items after the first ones in the chain, that many.
func After(items []transcript.Item, chain int) []transcript.Item {
	for i := range items {
		if chain == 0 {
			return items[i:]
		}
		if items[i].InChain() {
			chain--
		}
	}
	return nil
}

// At returns the item at a pointer, nil if there is none.
func (q *Reader) At(r *Request, pointer string) *transcript.Item {
	items := r.whole
	if r.InSegments() {
		items = r.outside
		if member, index, ok := dialect.ElementAt(pointer); ok {
			for i := r.size() - 1; i >= 0; i-- {
				if at := r.spot(i); at.member == q.arrays.of(member) && int(at.index) == index && at.nth == 0 {
					items = q.element(r, i)
					break
				}
			}
		}
	}
	i := slices.IndexFunc(items, func(it transcript.Item) bool { return it.At == pointer })
	if i < 0 {
		return nil
	}
	return &items[i]
}

// Settings returns the system texts and tool definitions of a request, without system
// texts in the middle of the conversation. The caller must not change them: requests
// with the same segments at the same places share them.
func (q *Reader) Settings(r *Request) []transcript.Item {
	if !r.InSegments() {
		return appendSettings(nil, r.whole)
	}
	beside := q.besideHistory(r)
	var spots []spot
	for _, i := range beside {
		if at := *r.spot(i); at.member != 0 {
			at.chain = 0
			spots = append(spots, at)
		}
	}
	if q.set.of != nil && sameItems(q.set.of.outside, r.outside) && q.set.of.Exchange.Dialect == r.Exchange.Dialect && slices.Equal(q.set.spots, spots) {
		return q.set.items
	}
	list := appendSettings(nil, r.outside)
	for _, i := range beside {
		list = appendSettings(list, q.element(r, i))
	}
	q.set = readSettings{r, spots, list}
	return list
}

// readSettings are the settings that were read last, with the segments that hold them.
type readSettings struct {
	of    *Request
	spots []spot
	items []transcript.Item
}

// appendSettings appends those items that are settings.
func appendSettings(list, items []transcript.Item) []transcript.Item {
	for i := range items {
		if items[i].IsSetting() {
			list = append(list, items[i])
		}
	}
	return list
}

// sameItems reports whether two lists are the same memory.
func sameItems(a, b []transcript.Item) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// SettingSegments returns the segments that hold the settings, nil if they are not known.
func (q *Reader) SettingSegments(r *Request) (ids []transcript.BodyID) {
	if r.InSegments() {
		for _, i := range q.besideHistory(r) {
			ids = append(ids, r.spot(i).id)
		}
	}
	return ids
}

// besideHistory returns the segments around the conversation, and those of the system
// texts that it begins with.
func (q *Reader) besideHistory(r *Request) []int {
	var list []int
	i := 0
	for ; i < r.size(); i++ {
		if q.arrays.isHistory(r.spot(i).member) && !q.onlySettings(r, i) {
			break
		}
		list = append(list, i)
	}
	var after []int
	for k := r.size() - 1; k > i && !q.arrays.isHistory(r.spot(k).member); k-- {
		after = append(after, k)
	}
	slices.Reverse(after)
	return append(list, after...)
}

// onlySettings reports whether an element holds nothing but settings.
func (q *Reader) onlySettings(r *Request, i int) bool {
	p, _ := q.keptPart(r, i)
	if p == nil {
		return true
	}
	if p.forgot && p.cut != nil {
		return !slices.ContainsFunc(p.cut, func(it transcript.Item) bool { return !it.IsSetting() })
	}
	p = q.partAt(r, i)
	return p == nil || !slices.ContainsFunc(p.items, func(it transcript.Item) bool { return !it.IsSetting() })
}
