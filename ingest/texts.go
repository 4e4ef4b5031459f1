package ingest

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/transcript"
)

const (
	textBytes   = 4 << 10  // neighbouring items share a text up to this
	partBytes   = 16 << 10 // longer items are indexed in parts
	partOverlap = 1 << 10  // the end of a part is the beginning of the next, so that no query is cut
)

// texts collects what is to be indexed of exchanges: the items that they
// brought, small ones together.
type texts struct {
	list []transcript.SearchText
	text transcript.SearchText // is collected
	size int                   // of it
}

func (t *texts) add(items []transcript.SearchItem, settings []transcript.Key) {
	for i := range items {
		it := &items[i]
		switch {
		case settings[i] != transcript.Key{}:
			t.alone(*it, settings[i])
			continue
		case len(it.Text) > partBytes:
			t.flush() // so that texts come in the order of their items
			t.alone(*it, transcript.Key{})
			continue
		case t.size > 0 && (t.size+len(it.Text) > textBytes || it.Exchange >= t.text.Items[0].Exchange+transcript.MostExchanges):
			t.flush()
		}
		t.text.Items = append(t.text.Items, *it)
		t.size += len(it.Text)
	}
}

func (t *texts) flush() {
	if len(t.text.Items) > 0 {
		t.list = append(t.list, t.text)
		t.text, t.size = transcript.SearchText{}, 0
	}
}

// alone makes texts of one item.
func (t *texts) alone(item transcript.SearchItem, same transcript.Key) {
	for words := item.Text; ; {
		item.Text = words
		if len(words) > partBytes {
			item.Text = words[:runeStart(words, partBytes)]
		}
		t.list = append(t.list, transcript.SearchText{Items: []transcript.SearchItem{item}, Same: same})
		if len(item.Text) == len(words) {
			return
		}
		words = words[runeStart(words, len(item.Text)-partOverlap):]
		if same != (transcript.Key{}) {
			same[0]++ // parts are texts of their own
		}
	}
}

func runeStart(s string, i int) int {
	for i > 0 && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

// searchText is what is indexed of an item: all its fields.
func searchText(it *transcript.Item) string {
	fields := it.Fields()
	parts := make([]string, len(fields))
	for i := range fields {
		parts[i] = fields[i].Text
	}
	return strings.Join(parts, "\n")
}

// layout tells which piece of a stored request holds an item.
type layout struct {
	ends   map[string][]int    // of its elements
	cuts   []int               // of its pieces
	pieces []transcript.BodyID // nil if they are not its elements
}

// piece gives the piece of the request that holds the element with an item.
func (l *layout) piece(b *transcript.Brought) transcript.BodyID {
	member, index, ok := dialect.ElementAt(b.Item.At)
	if b.Body != "request" || !ok || l.pieces == nil || index >= len(l.ends[member]) {
		return 0
	}
	i, found := slices.BinarySearch(l.cuts, l.ends[member][index])
	if !found {
		return 0
	}
	return l.pieces[i]
}

// knownExchanges is of how many exchanges an Indexer remembers what they made
// known.
const knownExchanges = 64

// textReader reads stored exchanges for the index. It remembers what they
// resend.
type textReader struct {
	memory dialect.Memory
	known  map[string]transcript.Known // by exchange id
	queue  []string
}

// indexMemory is how much of what was read is remembered.
const indexMemory = 8 << 20

// read gives the items that a stored exchange brought, and for settings what
// they are known by.
func (x *textReader) read(ctx context.Context, r transcript.Reader, u transcript.Unindexed) (items []transcript.SearchItem, settings []transcript.Key, err error) {
	x.memory.Limit = indexMemory
	e, err := r.ExchangeN(ctx, u.N)
	if errors.Is(err, transcript.ErrNotFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	shared, before, err := x.before(ctx, r, e, u.Whole)
	if err != nil {
		return nil, nil, err
	}
	reading, body, err := x.reading(ctx, r, e)
	if err != nil {
		return nil, nil, err
	}
	x.remember(e.ID, transcript.KnownOf(reading.Turn))
	brought := transcript.BroughtBy(e, reading.Turn, shared, before)
	if err := transcript.NameTools(ctx, r, e, brought); err != nil {
		return nil, nil, err
	}
	l := layout{cuts: reading.Cuts}
	if e.Request.ContentEncoding == "" && len(body) > 0 {
		if l.pieces, err = r.Pieces(ctx, e.Request.Body); err != nil {
			return nil, nil, err
		}
	}
	if len(l.pieces) == len(l.cuts) {
		l.ends = dialect.Elements(body)
	}
	for i := range brought {
		b := &brought[i]
		text := searchText(b.Item)
		if text == "" {
			continue
		}
		items = append(items, transcript.SearchItem{Exchange: e.N, Body: b.Body, At: b.Item.At, Piece: l.piece(b),
			Kind: b.Item.Kind, Tool: b.Tool, IsError: b.Item.IsError, Text: text})
		key := transcript.Key{}
		if b.Item.Steady() {
			key = transcript.SameKey(b.Item)
		}
		settings = append(settings, key)
	}
	return items, settings, nil
}

// before gives what the exchange that e continues had already.
func (x *textReader) before(ctx context.Context, r transcript.Reader, e *transcript.Exchange, whole bool) (int, transcript.Known, error) {
	if whole || e.Link.Parent == "" {
		return 0, nil, nil
	}
	if known, ok := x.known[e.Link.Parent]; ok {
		return e.Link.Shared, known, nil
	}
	parent, err := r.Exchange(ctx, e.Link.Parent)
	if errors.Is(err, transcript.ErrNotFound) || errors.Is(err, transcript.ErrDamaged) {
		return 0, nil, nil
	}
	if err != nil {
		return 0, nil, err
	}
	reading, _, err := x.reading(ctx, r, parent)
	if err != nil {
		return 0, nil, err
	}
	known := transcript.KnownOf(reading.Turn)
	x.remember(parent.ID, known)
	return e.Link.Shared, known, nil
}

func (x *textReader) remember(id string, known transcript.Known) {
	if x.known == nil {
		x.known = map[string]transcript.Known{}
	}
	if x.known[id] == nil {
		x.queue = append(x.queue, id)
	}
	x.known[id] = known
	if len(x.queue) > knownExchanges {
		delete(x.known, x.queue[0])
		x.queue = x.queue[1:]
	}
}

// reading decodes a stored exchange, and gives its request body. What cannot be
// read counts as empty: the rest is indexed all the same.
func (x *textReader) reading(ctx context.Context, r transcript.Reader, e *transcript.Exchange) (*dialect.Reading, []byte, error) {
	w := &dialect.Wire{Method: e.Method, URL: e.URL, RequestHeader: e.Request.Headers, ResponseHeader: e.Response.Headers, Status: e.Status}
	for m, body := range map[*transcript.Message]*[]byte{&e.Request: &w.Request, &e.Response: &w.Response} {
		var err error
		if *body, err = plainBody(ctx, r, m); err != nil && ctx.Err() != nil {
			return nil, nil, err
		}
	}
	return safely(e.Dialect, w, &x.memory), w.Request, nil
}

// safely reads with a decoder that may be at fault.
func safely(d transcript.Dialect, w *dialect.Wire, m *dialect.Memory) (reading *dialect.Reading) {
	defer func() {
		if recover() != nil {
			reading = new(dialect.Memory).Read(transcript.Unknown, w)
		}
	}()
	return m.Read(d, w)
}

func plainBody(ctx context.Context, r transcript.Reader, m *transcript.Message) ([]byte, error) {
	if m.Bytes == 0 || m.Bytes > maxDecode {
		return nil, nil
	}
	body, err := r.Body(ctx, m.Body)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	wire := make([]byte, m.Bytes)
	n, err := io.ReadFull(body, wire)
	if wire = wire[:n]; err != nil || m.ContentEncoding == "" || m.ContentEncoding == "identity" {
		return wire, err
	}
	plain, _ := dialect.Text(m.ContentEncoding, wire, maxDecode)
	return plain, nil
}
