package ingest

import (
	"context"
	"errors"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/ingest/link"
	"github.com/retake-debugger/retake/transcript"
)

// textReader reads stored exchanges for the index. It remembers what they sent, so that
// it reads little more than what is new in the next step of a run.
type textReader struct {
	memory   dialect.Memory
	sent     map[string]*sent // by exchange id
	queue    []string         // oldest first
	segments int              // of all that are remembered
	frame    []byte           // reused
}

const (
	indexMemory  = 8 << 20 // bytes of what was read that are remembered
	sentMost     = 64      // exchanges that are remembered, at most
	segmentsMost = 1 << 15 // and segments of theirs
)

// contents is what the index needs of an exchange.
type contents struct {
	turn   *transcript.Turn // Input may lack what was sent before
	shared int              // items of Input in the chain that are not new
	where  map[slot]transcript.BodyID
	same   map[*transcript.Item]transcript.Key // of items that other exchanges may resend
	sent   *sent
}

// read returns the items that a stored exchange introduced, and the keys of those that
// other exchanges introduce alike.
func (x *textReader) read(ctx context.Context, r transcript.Reader, u transcript.Unindexed) (items []transcript.SearchItem, same []transcript.Key, err error) {
	x.memory.Limit = indexMemory
	e, err := r.ExchangeN(ctx, u.N)
	if errors.Is(err, transcript.ErrNotFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	before := &sent{}
	if !u.Whole && e.Link.Parent != "" {
		if before, err = x.before(ctx, r, e.Link.Parent); err != nil {
			return nil, nil, err
		}
	}
	c, introduced, err := x.introduced(ctx, r, e, before, u.Whole)
	if err != nil {
		return nil, nil, err
	}
	x.remember(e.ID, c.sent)
	for i := range introduced {
		b := &introduced[i]
		text := searchText(b.Item)
		if text == "" {
			continue
		}
		items = append(items, transcript.SearchItem{Exchange: e.N, Body: b.Body, At: b.Item.At, Segment: c.segment(b),
			Kind: b.Item.Kind, Tool: b.Tool, IsError: b.Item.IsError, Text: text})
		key := c.same[b.Item]
		if b.Item.IsSetting() {
			key = transcript.ContentKey(b.Item)
		}
		same = append(same, key)
	}
	return items, same, nil
}

// introduced reads what is new in an exchange, or all of it if that is not enough.
func (x *textReader) introduced(ctx context.Context, r transcript.Reader, e *transcript.Exchange, before *sent, whole bool) (*contents, []transcript.IntroducedItem, error) {
	c, err := x.excerpt(ctx, r, e, before)
	if err != nil {
		return nil, nil, err
	}
	if c != nil {
		introduced := transcript.IntroducedBy(e, c.turn, c.shared, before.known)
		if err := transcript.NameTools(ctx, r, e, introduced); err != nil || allNamed(introduced) {
			return c, introduced, err
		}
	}
	if c, err = x.all(ctx, r, e); err != nil {
		return nil, nil, err
	}
	if e.Link.Parent != "" && before.known != nil {
		c.shared = e.Link.Shared
	}
	if whole || c.shared == 0 {
		c.markHistory()
	}
	introduced := transcript.IntroducedBy(e, c.turn, c.shared, before.known)
	return c, introduced, transcript.NameTools(ctx, r, e, introduced)
}

// allNamed reports whether the tool of each result is known.
func allNamed(introduced []transcript.IntroducedItem) bool {
	for i := range introduced {
		if it := introduced[i].Item; it.Kind == transcript.ToolResult && it.CallID != "" && introduced[i].Tool == "" {
			return false
		}
	}
	return true
}

// segment returns the segment of the request that holds the element with an item, 0 if
// that is not known.
func (c *contents) segment(b *transcript.IntroducedItem) transcript.BodyID {
	member, index, ok := dialect.ElementAt(b.Item.At)
	if b.Body != "request" || !ok {
		return 0
	}
	return c.where[slot{member, index}]
}

// markHistory makes the items of a history that continues nothing recorded shared texts,
// but for the last. Many requests begin with the same examples before a question.
func (c *contents) markHistory() {
	var history []*transcript.Item
	for i := range c.turn.Input {
		if c.turn.Input[i].InChain() {
			history = append(history, &c.turn.Input[i])
		}
	}
	c.same = map[*transcript.Item]transcript.Key{}
	node := transcript.Node{}
	for i, it := range history {
		if node = node.Extend(transcript.KeyOf(it)); i < len(history)-1 {
			c.same[it] = link.HintOf("history", string(node[:]))
		}
	}
}

// before returns what the parent of an exchange sent; nothing if it is gone.
func (x *textReader) before(ctx context.Context, r transcript.Reader, id string) (*sent, error) {
	if s := x.sent[id]; s != nil {
		return s, nil
	}
	parent, err := r.Exchange(ctx, id)
	if errors.Is(err, transcript.ErrNotFound) || errors.Is(err, transcript.ErrDamaged) {
		return &sent{}, nil
	}
	if err != nil {
		return nil, err
	}
	c, err := x.all(ctx, r, parent)
	if err != nil {
		return nil, err
	}
	x.remember(id, c.sent)
	return c.sent, nil
}

func (x *textReader) remember(id string, s *sent) {
	if x.sent == nil {
		x.sent = map[string]*sent{}
	}
	if old := x.sent[id]; old != nil {
		x.segments -= len(old.segments)
	} else {
		x.queue = append(x.queue, id)
	}
	x.sent[id] = s
	x.segments += len(s.segments)
	for len(x.queue) > 1 && (len(x.queue) > sentMost || x.segments > segmentsMost) {
		x.segments -= len(x.sent[x.queue[0]].segments)
		delete(x.sent, x.queue[0])
		x.queue = x.queue[1:]
	}
}

// all reads and decodes a stored exchange. What cannot be read counts as empty, so that
// the rest is indexed.
func (x *textReader) all(ctx context.Context, r transcript.Reader, e *transcript.Exchange) (*contents, error) {
	w, err := wireOf(ctx, r, e)
	if err == nil {
		w.Request, err = history.Available(history.Body(ctx, r, &e.Request))
	}
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	reading := safely(e.Dialect, w, &x.memory)
	c := &contents{turn: reading.Turn, sent: &sent{known: transcript.KnownOf(reading.Turn)}}
	if e.Request.ContentEncoding != "" || len(w.Request) == 0 {
		return c, nil
	}
	segments, err := r.Segments(ctx, e.Request.Body)
	if err == nil && len(segments) == len(reading.Cuts) {
		c.lay(segments, reading.Cuts, dialect.Elements(e.Dialect, w.Request))
	}
	return c, err
}

// wireOf returns a stored exchange with its answer but without its request.
func wireOf(ctx context.Context, r transcript.Reader, e *transcript.Exchange) (*dialect.Wire, error) {
	response, err := history.Available(history.Body(ctx, r, &e.Response))
	if err != nil && ctx.Err() == nil {
		err = nil
	}
	return history.Bodies{Response: response}.Wire(e), err
}

// safely reads with a decoder that may panic.
func safely(d transcript.Dialect, w *dialect.Wire, m *dialect.Memory) (reading *dialect.Reading) {
	defer func() {
		if recover() != nil {
			reading = dialect.Read(new(dialect.Memory), transcript.Unknown, w)
		}
	}()
	return dialect.Read(m, d, w)
}
