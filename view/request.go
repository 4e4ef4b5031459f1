package view

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/transcript"
)

// requests reads the requests of a run one after the other. They resend their
// history: what is stored in pieces is read piece by piece, and a piece that
// was read before is not read again.
type requests struct {
	ctx    context.Context
	reader transcript.Reader
	pieces map[pieceKey]*piece
	met    map[transcript.BodyID]bool  // pieces that were read
	long   map[transcript.BodyID][]int // of how many pieces elements are that begin with one
	whole  []*piece                    // those that hold their items
	kept   int                         // bytes of these items
	most   int                         // how many of them are kept
	recent []*request                  // read last, newest last
	wholes int                         // of them, that were read whole
	set    readSettings
	coming func() (comingPiece, bool) // pieces that are read before they are asked for
	brief  *brevity                   // by which items are cut; nil if that is not wanted
}

const (
	keptItems    = 16 << 20
	keptCompared = 8 << 20 // of a request and the one before
	keptRequests = 32
	keptWhole    = 4 // of them, that were read whole
)

func newRequests(ctx context.Context, r transcript.Reader) requests {
	return requests{ctx: ctx, reader: r, pieces: map[pieceKey]*piece{}, met: map[transcript.BodyID]bool{}, long: map[transcript.BodyID][]int{}, most: keptItems}
}

// gap is a piece that lies between elements.
type gap struct {
	i  int // which of the request's pieces it is
	id transcript.BodyID
}

// spot is a piece of a request, and where it is in it.
type spot struct {
	id     transcript.BodyID
	member array
	index  int32
	chain  int32 // chain items up to its end
	part   int32 // of an element that is several pieces long: which of them it is, from 0
}

// trunk holds the pieces that requests begin with alike. It only grows.
type trunk struct{ spots []spot }

// request is what an exchange sent. Its pieces are the first of a trunk, then its
// own; it has none if it was read whole.
type request struct {
	exchange *transcript.Exchange
	trunk    *trunk
	shared   int // pieces of the trunk that it begins with
	own      []spot
	gaps     []gap             // its pieces that lie between elements
	outside  []transcript.Item // that lie in no element
	before   int               // of them, that count in the chain
	previous string            // id of the answer that it names as its history
	whole    []transcript.Item // of a request that was read whole
	// parameters are those of its transcript.Turn.
	parameters map[string]json.RawMessage
}

func (r *request) inPieces() bool { return r.trunk != nil }

// size is how many pieces it has.
func (r *request) size() int { return r.shared + len(r.own) }

func (r *request) spot(i int) *spot {
	if i < r.shared {
		return &r.trunk.spots[i]
	}
	return &r.own[i-r.shared]
}

// read gives the request of an exchange.
func (q *requests) read(e *transcript.Exchange) (*request, error) {
	for _, r := range slices.Backward(q.recent) {
		if r.exchange.ID == e.ID {
			return r, nil
		}
	}
	r := &request{exchange: e}
	ok, err := q.byPieces(r)
	if err != nil {
		return nil, err
	}
	if !ok {
		if r, err = q.atOnce(e); err != nil {
			return nil, err
		}
	}
	q.remember(r)
	return r, nil
}

func (q *requests) remember(r *request) {
	if q.recent = append(q.recent, r); !r.inPieces() {
		q.wholes++
	}
	for len(q.recent) > keptRequests || q.wholes > keptWhole {
		i := 0
		if len(q.recent) <= keptRequests {
			i = slices.IndexFunc(q.recent, func(r *request) bool { return !r.inPieces() })
		}
		if !q.recent[i].inPieces() {
			q.wholes--
		}
		q.recent = slices.Delete(q.recent, i, i+1)
	}
}

// atOnce reads a request that is not in pieces.
func (q *requests) atOnce(e *transcript.Exchange) (*request, error) {
	body, err := readBody(q.ctx, q.reader, &e.Request)
	if err != nil {
		return nil, err
	}
	turn := dialect.Decode(e.Dialect, &dialect.Wire{Method: e.Method, URL: e.URL, Status: e.Status, RequestHeader: e.Request.Headers, Request: body})
	return newWhole(e, turn), nil
}

func newWhole(e *transcript.Exchange, turn *transcript.Turn) *request {
	return &request{exchange: e, whole: turn.Input, previous: turn.PreviousID, parameters: turn.Parameters}
}

// byPieces reads a request from its pieces. It is not ok if they do not tell
// enough.
func (q *requests) byPieces(r *request) (ok bool, err error) {
	e := r.exchange
	if !mayBeInPieces(e) {
		return false, nil
	}
	like, ids, at, err := q.resume(r)
	if err != nil || r.shared+len(ids) < 2 {
		return false, nil // reading it whole tells what is wrong
	}
	r.own = make([]spot, 0, len(ids))
	defer q.readAhead(ids)()
	for len(ids) > 0 {
		p, n := q.next(ids, e.Dialect, at.member, r.size() == 0)
		if p == nil || !p.gap && at.member == 0 {
			return false, q.ctx.Err()
		}
		if p.gap {
			r.gaps = append(r.gaps, gap{r.size(), ids[0]})
			r.own = append(r.own, spot{id: ids[0], chain: at.chain})
			at.member, at.index = p.opens, -1
		} else {
			at.index++
			at.chain += int32(p.chain)
			for k, id := range ids[:n] {
				at.id, at.part = id, int32(k)
				r.own = append(r.own, at)
			}
		}
		ids = ids[n:]
	}
	return q.readOutside(r, like), nil
}

func mayBeInPieces(e *transcript.Exchange) bool {
	r := &e.Request
	return r.ContentEncoding == "" && (r.Omitted == "" || r.Omitted == "secrets") && r.Bytes > 0 && r.Bytes <= maxBody && e.Dialect != transcript.Unknown
}

// Weight is about how many bytes there are to read of a step: of its answer, and of
// what its request brings.
func (r *Run) Weight(s *Step) int64 { return r.weight(s.exchange) }

func (r *Run) weight(e *transcript.Exchange) int64 {
	brought := e.Request.Bytes
	if parent := r.exchanges[e.Link.Parent]; parent != nil && e.Link.Shared > 0 && mayBeInPieces(e) {
		brought = max(0, brought-parent.Request.Bytes)
	}
	return brought + e.Response.Bytes
}

// resume begins a request with the pieces that it shares with one read before,
// rather with the one that it goes on from. It gives that one, the pieces behind
// them, and where these begin.
func (q *requests) resume(r *request) (like *request, ids []transcript.BodyID, at spot, err error) {
	at = spot{index: -1}
	r.trunk = &trunk{}
	if like = q.nearest(r.exchange); like == nil {
		ids, err = q.reader.Segments(q.ctx, r.exchange.Request.Body)
		return nil, ids, at, err
	}
	same, ids, err := q.reader.SegmentsAfter(q.ctx, r.exchange.Request.Body, like.exchange.Request.Body)
	for same > 0 && same < like.size() && like.spot(same).part > 0 { // an element that begins alike is another one
		same--
		ids = slices.Insert(ids, 0, like.spot(same).id)
	}
	if err != nil || same == 0 {
		return nil, ids, at, err
	}
	r.trunk, r.shared = like.trunk, same
	for _, g := range like.gaps {
		if g.i < same {
			r.gaps = append(r.gaps, g)
		}
	}
	if more := same - like.shared; more > 0 {
		if len(r.trunk.spots) > like.shared { // others went on from there
			r.trunk = &trunk{spots: slices.Clone(r.trunk.spots[:like.shared])}
		}
		r.trunk.spots = append(r.trunk.spots, like.own[:more]...)
	}
	if at = *r.spot(same - 1); at.member == 0 {
		at.member, at.index = q.gap(at.id).opens, -1
	}
	return like, ids, at, nil
}

// nearest gives a request read before that another one is likely to resend.
func (q *requests) nearest(e *transcript.Exchange) *request {
	var last *request
	for _, r := range slices.Backward(q.recent) {
		switch {
		case !r.inPieces() || r.exchange.Dialect != e.Dialect:
		case r.exchange.ID == e.Link.Parent:
			return r
		case last == nil || last.exchange.Link.Agent != e.Link.Agent && r.exchange.Link.Agent == e.Link.Agent:
			last = r
		}
	}
	return last
}

// readOutside reads what lies between the elements: a request with its large
// arrays empty.
func (q *requests) readOutside(r, like *request) bool {
	e := r.exchange
	if like != nil && like.exchange.URL == e.URL && slices.EqualFunc(like.gaps, r.gaps, func(a, b gap) bool { return a.id == b.id }) {
		r.outside, r.before, r.previous, r.parameters = like.outside, like.before, like.previous, like.parameters
		return true
	}
	var body []byte
	for _, g := range r.gaps {
		body = append(body, q.gap(g.id).text...)
	}
	if !json.Valid(body) {
		return false
	}
	turn := dialect.Decode(e.Dialect, &dialect.Wire{Method: e.Method, URL: e.URL, RequestHeader: e.Request.Headers, Request: body})
	r.outside, r.previous, r.parameters = turn.Input, turn.PreviousID, turn.Parameters
	for i := range r.outside {
		if r.outside[i].InChain() {
			r.before++
		}
	}
	return true
}

// element gives the items of one piece, in place.
func (q *requests) element(r *request, i int) []transcript.Item { return q.add(nil, r, i) }

// add adds the items of one piece, in place.
func (q *requests) add(items []transcript.Item, r *request, i int) []transcript.Item {
	p := q.pieceAt(r, i)
	if p == nil {
		return items
	}
	return putAt(items, p.items, r.spot(i))
}

// putAt adds the items of an element that is at that spot.
func putAt(items, more []transcript.Item, at *spot) []transcript.Item {
	had := len(items)
	items = append(items, more...)
	from, to := "/"+arrays[at.member]+"/0", "/"+arrays[at.member]+"/"+strconv.Itoa(int(at.index))
	for k := had; k < len(items); k++ {
		items[k].At = to + strings.TrimPrefix(items[k].At, from)
	}
	return items
}

// pieceAt gives an element with its items; nil of what lies between some, and of the
// further pieces of a long one.
func (q *requests) pieceAt(r *request, i int) *piece {
	p, ids := q.keptAt(r, i)
	if p != nil && p.forgot {
		p, _ = q.readPiece(ids, r.exchange.Dialect, r.spot(i).member, false)
	}
	return p
}

// keptAt gives an element, and of what pieces it is.
func (q *requests) keptAt(r *request, i int) (*piece, []transcript.BodyID) {
	at := r.spot(i)
	if at.member == 0 || at.part > 0 {
		return nil, nil
	}
	ids := []transcript.BodyID{at.id}
	for i++; i < r.size() && r.spot(i).part > 0; i++ {
		ids = append(ids, r.spot(i).id)
	}
	return q.pieces[keyOf(ids, r.exchange.Dialect, at.member)], ids
}

// items gives all items of a request.
func (q *requests) items(r *request) []transcript.Item {
	if !r.inPieces() {
		return r.whole
	}
	items := slices.Clone(r.outside)
	for i := range r.size() {
		items = q.add(items, r, i)
	}
	return items
}

// briefItems gives all items of a request, cut.
func (q *requests) briefItems(r *request) []transcript.Item {
	if !r.inPieces() {
		return q.brief.of(r.whole)
	}
	items := q.brief.of(r.outside)
	for i := range r.size() {
		if p, _ := q.keptAt(r, i); p != nil {
			items = putAt(items, p.brief, r.spot(i))
		}
	}
	return items
}

// behind gives the items of a request behind its first so many chain items, and
// what is beside the chain only from there on.
func (q *requests) behind(r *request, chain int) []transcript.Item {
	if !r.inPieces() {
		return behind(r.whole, chain)
	}
	var items []transcript.Item
	had := 0
	if chain < r.before {
		items, had = behind(r.outside, chain), chain
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
		if r.spot(i).member.isHistory() {
			more = q.add(more, r, i)
		}
	}
	if more = behind(more, max(0, chain-had)); len(items) == 0 {
		return more
	}
	return append(items, more...)
}

// reaches tells whether an element ends or lies behind the first so many chain
// items; reasoning right behind them does.
func (r *request) reaches(element, chain int) bool {
	begin := r.before
	if element > 0 {
		begin += int(r.spot(element - 1).chain)
	}
	return r.before+int(r.spot(element).chain) > chain || begin >= chain
}

func behind(items []transcript.Item, chain int) []transcript.Item {
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

// at gives the item at a pointer; nil if there is none.
func (q *requests) at(r *request, pointer string) *transcript.Item {
	items := r.whole
	if r.inPieces() {
		items = r.outside
		if member, index, ok := dialect.ElementAt(pointer); ok {
			for i := r.size() - 1; i >= 0; i-- {
				if at := r.spot(i); at.member == arrayOf(member) && int(at.index) == index && at.part == 0 {
					items = q.element(r, i)
					break
				}
			}
		}
	}
	return at(items, pointer)
}

// settings gives the system texts and tool definitions of a request, but for
// system texts in the middle of the conversation. They are not to be changed:
// requests in which the same pieces stand at the same places share them.
func (q *requests) settings(r *request) []transcript.Item {
	if !r.inPieces() {
		return steady(nil, r.whole)
	}
	beside := q.besideHistory(r)
	var spots []spot
	for _, i := range beside {
		if at := *r.spot(i); at.member != 0 {
			at.chain = 0
			spots = append(spots, at)
		}
	}
	if q.set.of != nil && sameItems(q.set.of.outside, r.outside) && q.set.of.exchange.Dialect == r.exchange.Dialect && slices.Equal(q.set.spots, spots) {
		return q.set.items
	}
	list := steady(nil, r.outside)
	for _, i := range beside {
		list = steady(list, q.element(r, i))
	}
	q.set = readSettings{r, spots, list}
	return list
}

// readSettings are the settings that were read last, with the pieces that hold them.
type readSettings struct {
	of    *request
	spots []spot
	items []transcript.Item
}

// steady adds those of some items that are settings.
func steady(list, items []transcript.Item) []transcript.Item {
	for i := range items {
		if items[i].IsSetting() {
			list = append(list, items[i])
		}
	}
	return list
}

// sameItems tells whether two lists are the very same.
func sameItems(a, b []transcript.Item) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// settingPieces gives the pieces that hold the settings, nil if those are not
// known.
func (q *requests) settingPieces(r *request) (pieces []transcript.BodyID) {
	if r.inPieces() {
		for _, i := range q.besideHistory(r) {
			pieces = append(pieces, r.spot(i).id)
		}
	}
	return pieces
}

// besideHistory gives the pieces around the conversation, and the system texts
// that it begins with.
func (q *requests) besideHistory(r *request) []int {
	var list []int
	i := 0
	for ; i < r.size(); i++ {
		if r.spot(i).member.isHistory() && !q.isSteady(r, i) {
			break
		}
		list = append(list, i)
	}
	var after []int
	for k := r.size() - 1; k > i && !r.spot(k).member.isHistory(); k-- {
		after = append(after, k)
	}
	slices.Reverse(after)
	return append(list, after...)
}

// isSteady tells whether an element holds nothing but settings.
func (q *requests) isSteady(r *request, i int) bool {
	p, _ := q.keptAt(r, i)
	if p == nil {
		return true
	}
	if p.forgot && p.brief != nil {
		return !slices.ContainsFunc(p.brief, func(it transcript.Item) bool { return !it.IsSetting() })
	}
	p = q.pieceAt(r, i)
	return p == nil || !slices.ContainsFunc(p.items, func(it transcript.Item) bool { return !it.IsSetting() })
}
