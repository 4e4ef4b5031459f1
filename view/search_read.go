package view

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/transcript"
)

const (
	// firstItems is the size of the first group, if its items are of several
	// neighbouring exchanges. Most searches have enough soon, so the next groups grow
	// up to mostItems.
	firstItems, mostItems = 4, 16
	// firstExchanges is how many exchanges are looked up together at first, later up to
	// mostExchanges.
	firstExchanges, mostExchanges = 6, 24
	// groupSpan is how far apart the exchanges of a group may be. What is further away
	// is hardly in the same pack.
	groupSpan = 32
	// mostReaders is how many groups are read at once.
	mostReaders = 4
)

// indexReading reads the items that the index finds. Unpacking and decoding is most of a
// search, so several goroutines do it.
type indexReading struct {
	finder  *finder
	ctx     context.Context
	cancel  context.CancelFunc
	readers sync.WaitGroup
	work    chan *group
	queue   chan *group // in the order of the index
	// allowed is how many items may be read: as many as are wanted, and one more for
	// each that did not become a hit. more signals that it has grown.
	allowed atomic.Int64
	more    chan struct{}
}

// group is a few neighbouring items and what was found in them.
type group struct {
	items     []transcript.SearchItem
	exchanges []*transcript.Exchange // summaries, in no order
	found     []candidate
	err       error
	done      chan struct{}
}

// readIndex starts to read. The caller stops it.
func (f *finder) readIndex() *indexReading {
	readers := min(runtime.GOMAXPROCS(0), mostReaders)
	r := &indexReading{finder: f, work: make(chan *group), queue: make(chan *group, 2*readers), more: make(chan struct{}, 1)}
	r.allowed.Store(int64(f.most))
	r.ctx, r.cancel = context.WithCancel(f.ctx)
	for range readers {
		r.readers.Go(func() {
			for g := range r.work {
				g.err = errors.Join(g.err, r.read(g))
				close(g.done)
			}
		})
	}
	r.readers.Go(r.ask)
	return r
}

func (r *indexReading) stop() {
	r.cancel()
	r.readers.Wait()
}

// next returns the next group once it is read, nil after the last.
func (r *indexReading) next() (*group, error) {
	g := <-r.queue
	if g == nil {
		return nil, r.finder.ctx.Err()
	}
	<-g.done
	return g, g.err
}

// ask asks the index and makes groups of what it finds.
func (r *indexReading) ask() {
	defer close(r.queue)
	defer close(r.work)
	var batch []*group
	var g *group
	items, exchanges, n, asked := firstItems, firstExchanges, 0, int64(0)
	for item, err := range r.finder.reader.Search(r.ctx, r.finder.search.SearchQuery) {
		if err != nil {
			batch = append(batch, &group{err: err})
			break
		}
		if asked++; asked > r.allowed.Load() {
			if !r.pass(batch) || !r.wait(asked) {
				return
			}
			batch, g, n = nil, nil, 0
		}
		if g == nil || g.isFull(&item, items) {
			if g != nil {
				items = min(2*items, mostItems)
			}
			if n >= exchanges {
				if !r.pass(batch) {
					return
				}
				batch, exchanges, n = nil, min(2*exchanges, mostExchanges), 0
			}
			g = &group{}
			batch = append(batch, g)
		}
		if len(g.items) == 0 || g.items[len(g.items)-1].Exchange != item.Exchange {
			n++
		}
		g.items = append(g.items, item)
	}
	r.pass(batch)
}

// wait waits until that many items may be read. It returns false if the search has ended.
func (r *indexReading) wait(asked int64) bool {
	for asked > r.allowed.Load() {
		select {
		case <-r.more:
		case <-r.ctx.Done():
			return false
		}
	}
	return true
}

// allow allows that many more items, because as many did not become hits.
func (r *indexReading) allow(items int) {
	if r.finder.most == math.MaxInt || items == 0 {
		return
	}
	r.allowed.Add(int64(items))
	select {
	case r.more <- struct{}{}:
	default:
	}
}

// isFull reports whether the next item begins another group. Items of one exchange stay
// together.
func (g *group) isFull(next *transcript.SearchItem, most int) bool {
	return g.items[len(g.items)-1].Exchange != next.Exchange && (len(g.items) >= most || g.items[0].Exchange-next.Exchange > groupSpan)
}

// pass looks up the exchanges of groups and passes them on. It returns false if the
// search has ended.
func (r *indexReading) pass(batch []*group) bool {
	var numbers []int64
	for _, g := range batch {
		for i := range g.items {
			if n := len(numbers); n == 0 || numbers[n-1] != g.items[i].Exchange {
				numbers = append(numbers, g.items[i].Exchange)
			}
		}
	}
	var list []*transcript.Exchange
	var err error
	if len(numbers) > 0 {
		list, err = r.finder.reader.Summaries(r.ctx, numbers)
	}
	for _, g := range batch {
		g.exchanges, g.err, g.done = list, errors.Join(g.err, err), make(chan struct{})
		for _, to := range []chan *group{r.work, r.queue} {
			select {
			case to <- g:
			case <-r.ctx.Done():
				return false
			}
		}
	}
	return true
}

// read reads the items of a group.
func (r *indexReading) read(g *group) error {
	l := lookup{finder: r.finder, ctx: r.ctx}
	for i := range g.items {
		s := &g.items[i]
		if i > 0 && samePlace(s, &g.items[i-1]) {
			continue // another part of a long item
		}
		if l.exchange == nil || l.exchange.N != s.Exchange {
			k := slices.IndexFunc(g.exchanges, func(e *transcript.Exchange) bool { return e.N == s.Exchange })
			if k < 0 {
				continue
			}
			l = lookup{finder: r.finder, ctx: r.ctx, exchange: g.exchanges[k]}
		}
		if c, ok := l.item(s); ok {
			g.found = append(g.found, c)
		}
		if err := r.ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

func samePlace(a, b *transcript.SearchItem) bool {
	return a.Exchange == b.Exchange && a.Body == b.Body && a.At == b.At
}

// lookup reads the items of one exchange. Neighbours are often in one answer or one
// element.
type lookup struct {
	*finder
	ctx      context.Context
	exchange *transcript.Exchange // a summary
	answer   *transcript.Turn     // its response
	whole    *transcript.Turn     // all of it
	segment  transcript.BodyID    // the last one
	element  []transcript.Item    // in it
}

// item returns an item of the index if it matches. What cannot be read is left out;
// inspect verify reports it.
func (l *lookup) item(s *transcript.SearchItem) (candidate, bool) {
	it := l.find(s)
	if it == nil {
		return candidate{}, false
	}
	return l.candidate(l.exchange, transcript.IntroducedItem{Item: it, Body: s.Body, Tool: s.Tool}, s.Again)
}

func (l *lookup) find(s *transcript.SearchItem) *transcript.Item {
	if s.Kind == transcript.Failure {
		if l.exchange.Error == nil {
			return nil
		}
		return transcript.FailureItem(l.exchange.Error)
	}
	var it *transcript.Item
	switch {
	case s.Body == "response":
		it = at(l.output(), s.At)
	case s.Segment != 0:
		it = at(l.inSegment(s), s.At)
	}
	if it != nil {
		return it
	}
	if l.whole == nil {
		l.whole = l.all()
	}
	if s.Body == "response" {
		return at(l.whole.Output, s.At)
	}
	return at(l.whole.Input, s.At)
}

// all reads the whole exchange; the turn is empty if that fails.
func (l *lookup) all() *transcript.Turn {
	e, err := l.reader.ExchangeN(l.ctx, l.exchange.N)
	if err != nil {
		return &transcript.Turn{}
	}
	turn, err := history.Decode(l.ctx, l.reader, e)
	if err != nil {
		return &transcript.Turn{}
	}
	return turn
}

func at(items []transcript.Item, pointer string) *transcript.Item {
	i := slices.IndexFunc(items, func(it transcript.Item) bool { return it.At == pointer })
	if i < 0 {
		return nil
	}
	return &items[i]
}

// output reads the answer only.
func (l *lookup) output() []transcript.Item {
	if l.answer == nil {
		e := l.exchange
		body, _ := history.Body(l.ctx, history.Excerpts{BodyReader: l.reader}, &e.Response)
		l.answer = history.Bodies{Response: body}.Decode(e)
	}
	return l.answer.Output
}

func (l *lookup) inSegment(s *transcript.SearchItem) []transcript.Item {
	if l.segment == s.Segment {
		return l.element
	}
	segment, err := history.Segment(l.ctx, history.Excerpts{BodyReader: l.reader}, s.Segment)
	if err != nil {
		return nil
	}
	l.segment, l.element = s.Segment, dialect.DecodeElement(l.exchange.Dialect, s.At, segment)
	return l.element
}
