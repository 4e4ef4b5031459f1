package view

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
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
	kept   int        // bytes of the items that pieces hold
	recent []*request // read last, newest last
}

const (
	keptItems    = 32 << 20
	keptRequests = 4
)

// pieceKey names a piece by what it is read as: nothing but id for what lies
// between elements.
type pieceKey struct {
	id      transcript.BodyID
	dialect transcript.Dialect
	member  array
}

// piece is one piece of a request: an element of a large array, or what lies
// between them. Where it is differs from request to request.
type piece struct {
	gap    bool
	opens  array             // of a gap: the array whose elements follow
	text   []byte            // of a gap
	chain  int               // items of an element that count in the chain
	items  []transcript.Item // of an element, as if it were the first of its array
	forgot bool              // they are to be read again
}

// spot is where a piece is in a request.
type spot struct {
	member array
	index  int32
	chain  int32 // chain items up to its end
}

// array is one of the large arrays of a request, by its place in arrays; 0 for
// what lies between them.
type array int32

// arrays are the names of the large arrays, those of conversations first.
var arrays = [...]string{"", "messages", "input", "contents", "tools", "functions", "system", "instructions"}

const lastHistory = 3

// isHistory tells whether an array holds a conversation.
func (a array) isHistory() bool { return a > 0 && a <= lastHistory }

func arrayOf(name string) array { return array(max(0, slices.Index(arrays[:], name))) }

// request is what an exchange sent.
type request struct {
	exchange *transcript.Exchange
	ids      []transcript.BodyID // of its pieces; nil if it was read whole
	spots    []spot
	outside  []transcript.Item // that lie in no element
	before   int               // of them, that count in the chain
	previous string            // id of the answer that it names as its history
	whole    []transcript.Item // of a request that was read whole
	// parameters are those of its transcript.Turn.
	parameters map[string]json.RawMessage
}

// read gives the request of an exchange.
func (q *requests) read(e *transcript.Exchange) (*request, error) {
	for _, r := range q.recent {
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
		if r, err = q.whole(e); err != nil {
			return nil, err
		}
	}
	if q.recent = append(q.recent, r); len(q.recent) > keptRequests {
		q.recent = q.recent[1:]
	}
	return r, nil
}

func (q *requests) whole(e *transcript.Exchange) (*request, error) {
	body, err := readBody(q.ctx, q.reader, &e.Request)
	if err != nil {
		return nil, err
	}
	turn := dialect.Decode(e.Dialect, &dialect.Wire{Method: e.Method, URL: e.URL, Status: e.Status, RequestHeader: e.Request.Headers, Request: body})
	return &request{exchange: e, whole: turn.Input, previous: turn.PreviousID, parameters: turn.Parameters}, nil
}

// byPieces reads a request from its pieces. It is not ok if they do not tell
// enough.
func (q *requests) byPieces(r *request) (ok bool, err error) {
	e := r.exchange
	if e.Request.ContentEncoding != "" || e.Request.Omitted != "" || e.Request.Bytes == 0 || e.Request.Bytes > maxBody || e.Dialect == transcript.Unknown {
		return false, nil
	}
	if r.ids, err = q.reader.Pieces(q.ctx, e.Request.Body); err != nil || len(r.ids) < 2 {
		return false, nil // reading it whole tells what is wrong
	}
	at := q.resume(r)
	for i := len(r.spots); i < len(r.ids); i++ {
		p := q.gap(r.ids[i])
		if p == nil && i > 0 {
			p = q.pieces[pieceKey{r.ids[i], e.Dialect, at.member}]
		}
		if p == nil {
			p = q.readPiece(pieceKey{r.ids[i], e.Dialect, at.member}, i == 0)
		}
		if p == nil {
			return false, q.ctx.Err()
		}
		switch {
		case p.gap:
			at.member, at.index = p.opens, -1
			r.spots = append(r.spots, spot{0, 0, at.chain})
		case at.member == 0:
			return false, nil
		default:
			at.index++
			at.chain += int32(p.chain)
			r.spots = append(r.spots, at)
		}
	}
	return q.readOutside(r), nil
}

// resume takes over where the pieces are that a request shares with the one
// read last.
func (q *requests) resume(r *request) spot {
	at := spot{index: -1}
	if len(q.recent) == 0 {
		return at
	}
	last := q.recent[len(q.recent)-1]
	same := 0
	for same < len(last.ids) && same < len(r.ids) && last.ids[same] == r.ids[same] {
		same++
	}
	if same == 0 || last.exchange.Dialect != r.exchange.Dialect {
		return at
	}
	r.spots = append(make([]spot, 0, len(r.ids)), last.spots[:same]...)
	if at = r.spots[same-1]; at.member == 0 {
		at.member, at.index = q.gap(r.ids[same-1]).opens, -1
	}
	return at
}

// readOutside reads what lies between the elements: a request with its large
// arrays empty.
func (q *requests) readOutside(r *request) bool {
	var body []byte
	for i, id := range r.ids {
		if r.spots[i].member == 0 {
			body = append(body, q.gap(id).text...)
		}
	}
	if !json.Valid(body) {
		return false
	}
	e := r.exchange
	turn := dialect.Decode(e.Dialect, &dialect.Wire{Method: e.Method, URL: e.URL, RequestHeader: e.Request.Headers, Request: body})
	r.outside, r.previous, r.parameters = turn.Input, turn.PreviousID, turn.Parameters
	for i := range r.outside {
		if r.outside[i].InChain() {
			r.before++
		}
	}
	return true
}

// gap gives a piece that lies between elements; nil if it was not read yet.
func (q *requests) gap(id transcript.BodyID) *piece { return q.pieces[pieceKey{id: id}] }

// readPiece reads a piece; nil if it is neither an element nor lies between
// some.
func (q *requests) readPiece(key pieceKey, first bool) *piece {
	body, err := q.reader.Body(q.ctx, key.id)
	if err != nil {
		return nil
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, maxBody))
	if err != nil {
		return nil
	}
	p := &piece{}
	if trimmed := bytes.TrimSpace(text); first || bytes.HasPrefix(trimmed, []byte("]")) {
		p.gap, p.text, p.opens = true, text, arrayOf(opened(trimmed))
		key = pieceKey{id: key.id}
	} else if p.items = dialect.DecodeElement(key.dialect, "/"+arrays[key.member]+"/0", text); p.items == nil && !isElement(trimmed) {
		return nil
	}
	for i := range p.items {
		if p.items[i].InChain() {
			p.chain++
		}
	}
	q.keep(key, p, len(text))
	return p
}

func (q *requests) keep(key pieceKey, p *piece, size int) {
	if q.kept += size; q.kept > keptItems {
		for _, old := range q.pieces {
			old.items, old.forgot = nil, !old.gap
		}
		q.kept = size
	}
	q.pieces[key] = p
}

// isElement tells whether a piece is a value with a separator before it.
func isElement(text []byte) bool {
	return json.Valid(bytes.TrimPrefix(text, []byte(",")))
}

// opened gives the name of the array that begins at the end of a piece.
func opened(text []byte) string {
	rest, ok := bytes.CutSuffix(text, []byte("["))
	if !ok {
		return ""
	}
	rest, ok = bytes.CutSuffix(bytes.TrimSpace(rest), []byte(":"))
	if !ok {
		return ""
	}
	rest, ok = bytes.CutSuffix(bytes.TrimSpace(rest), []byte(`"`))
	if !ok {
		return ""
	}
	return string(rest[bytes.LastIndexByte(rest, '"')+1:])
}

// element gives the items of one piece, in place.
func (q *requests) element(r *request, i int) []transcript.Item {
	at := r.spots[i]
	if at.member == 0 {
		return nil
	}
	key := pieceKey{r.ids[i], r.exchange.Dialect, at.member}
	p := q.pieces[key]
	if p.forgot {
		if p = q.readPiece(key, false); p == nil {
			return nil
		}
	}
	items := slices.Clone(p.items)
	from, to := "/"+arrays[at.member]+"/0", "/"+arrays[at.member]+"/"+strconv.Itoa(int(at.index))
	for k := range items {
		items[k].At = to + strings.TrimPrefix(items[k].At, from)
	}
	return items
}

// items gives all items of a request.
func (q *requests) items(r *request) []transcript.Item {
	if r.ids == nil {
		return r.whole
	}
	items := slices.Clone(r.outside)
	for i := range r.ids {
		items = append(items, q.element(r, i)...)
	}
	return items
}

// behind gives the items of a request behind its first so many chain items, and
// what is beside the chain only from there on.
func (q *requests) behind(r *request, chain int) []transcript.Item {
	if r.ids == nil {
		return behind(r.whole, chain)
	}
	var items []transcript.Item
	had := 0
	if chain < r.before {
		items, had = behind(r.outside, chain), chain
	} else {
		had = r.before
	}
	first := len(r.ids)
	for first > 0 && (r.spots[first-1].member == 0 || r.reaches(first-1, chain)) {
		first--
	}
	if first > 0 {
		had = r.before + int(r.spots[first-1].chain)
	}
	var more []transcript.Item
	for i := first; i < len(r.ids); i++ {
		if r.spots[i].member.isHistory() {
			more = append(more, q.element(r, i)...)
		}
	}
	return append(items, behind(more, max(0, chain-had))...)
}

// reaches tells whether an element ends or lies behind the first so many chain
// items; reasoning right behind them does.
func (r *request) reaches(element, chain int) bool {
	begin := r.before
	if element > 0 {
		begin += int(r.spots[element-1].chain)
	}
	return r.before+int(r.spots[element].chain) > chain || begin >= chain
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
	if r.ids != nil {
		items = r.outside
		if member, index, ok := dialect.ElementAt(pointer); ok {
			for i := len(r.ids) - 1; i >= 0; i-- {
				if r.spots[i].member == arrayOf(member) && int(r.spots[i].index) == index {
					items = q.element(r, i)
					break
				}
			}
		}
	}
	return at(items, pointer)
}

// settings gives the system texts and tool definitions of a request, but for
// system texts in the middle of the conversation; and the pieces that they are
// in, nil if those are not known.
func (q *requests) settings(r *request) ([]transcript.Item, []transcript.BodyID) {
	items, pieces := r.whole, []transcript.BodyID(nil)
	if r.ids != nil {
		items = r.outside
		for _, i := range q.besideHistory(r) {
			items = append(items[:len(items):len(items)], q.element(r, i)...)
			pieces = append(pieces, r.ids[i])
		}
	}
	var list []transcript.Item
	for i := range items {
		if items[i].Steady() {
			list = append(list, items[i])
		}
	}
	return list, pieces
}

// besideHistory gives the pieces around the conversation, and the system texts
// that it begins with.
func (q *requests) besideHistory(r *request) []int {
	var list []int
	i := 0
	for ; i < len(r.ids); i++ {
		if r.spots[i].member.isHistory() && !allSteady(q.element(r, i)) {
			break
		}
		list = append(list, i)
	}
	var after []int
	for k := len(r.ids) - 1; k > i && !r.spots[k].member.isHistory(); k-- {
		after = append(after, k)
	}
	slices.Reverse(after)
	return append(list, after...)
}

func allSteady(items []transcript.Item) bool {
	return !slices.ContainsFunc(items, func(it transcript.Item) bool { return !it.Steady() })
}
