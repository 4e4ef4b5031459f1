package recorder

import (
	"bytes"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
)

// requestBody brings the client's body to the upstream, in one of three ways:
// there is none; it is small and comes in at once, is recorded together with
// the head and goes on from memory; or it is pumped piece by piece.
type requestBody struct {
	x      *relay
	flight *flight     // of a small body
	pump   *pump       // of a pumped one
	gone   atomic.Bool // the client broke off its request

	mu    sync.Mutex
	got   int  // bytes of a small body that have come in
	split bool // what there was of it has gone on, the rest is pumped
}

// flightBudget bounds the memory for small bodies of all exchanges together,
// stagedHead the head that a small body is staged behind.
const (
	flightBudget = 32 << 20
	stagedHead   = 16 << 10
)

// choose picks the way.
func (b *requestBody) choose() step {
	x, r := b.x, b.x.in
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		x.stage.meta(frameRequestEnd, &ending{})
		return x.save((*relay).send)
	}
	waits := r.Header["Expect"] != nil // for the upstream's word
	if n := r.ContentLength; n > 0 && n <= flightBytes-stagedHead && len(x.stage.buf) < stagedHead-2*endReserve && !waits {
		if x.p.flight.Add(n) <= flightBudget {
			return b.collect(n)
		}
		x.p.flight.Add(-n)
	}
	b.pump = newPump(b)
	if waits { // the transport's first read starts it
		return x.save((*relay).send)
	}
	return x.save(func(x *relay) step {
		b.pump.start()
		return x.send()
	})
}

// collect reads a small body whole. If it takes its time, the watchdog sends on
// what there is (sendPart), and this goroutine pumps the rest.
func (b *requestBody) collect(size int64) step {
	x := b.x
	x.stage.grow(size)
	b.flight = newFlight(x.p, x.stage.buf, size)
	room := x.stage.room()[:size]
	x.next, x.stall = (*relay).sendPart, false
	region := x.watch.enter(holdTicks)
	var err error
	for b.got < len(room) && err == nil {
		var n int
		n, err = x.in.Body.Read(room[b.got:])
		if !b.keep(n) {
			b.pump.goOn(room[b.got:b.got+n], err)
			return nil
		}
	}
	if !x.watch.leave(region) {
		b.partition().goOn(nil, err)
		return nil
	}
	b.flight.body = x.stage.piece(frameRequest, b.got)
	if b.got < len(room) {
		b.gone.Store(true)
		return x.fail(err)
	}
	x.stage.meta(frameRequestEnd, &ending{})
	return x.save((*relay).send)
}

// keep counts n more bytes of a small body. It says false if they belong to
// the pump already.
func (b *requestBody) keep(n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.split {
		b.got += n
	}
	return !b.split
}

// partition makes the pump for the rest of a small body. The goroutine that has
// collected so far runs it.
func (b *requestBody) partition() *pump {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.split {
		b.split = true
		b.flight.kept.Store(true) // by this goroutine and by the transport
		b.pump = newPump(b)
		b.pump.behind = make(chan struct{})
		b.pump.state.Store(pumpRuns)
		b.x.p.dog.add(&b.pump.watch)
	}
	return b.pump
}

// sendPart sends the head and what has come in of a small body. It moves to a
// buffer of its own: the rest is being read right behind it, where the end of
// its frame would lie. The pump waits until it is saved, for the order's sake.
func (x *relay) sendPart() step {
	p := x.body.partition()
	head, part := x.stage.buf, x.stage.room()[:x.body.got] // got stays from here on
	x.stage.buf = nil
	x.stage.grow(int64(len(head) + len(part)))
	x.stage.buf = append(x.stage.buf, head...)
	copy(x.stage.room(), part)
	p.cur = x.stage.piece(frameRequest, len(part))
	return x.save(func(x *relay) step {
		close(p.behind)
		return x.send()
	})
}

// attach gives the body to the request to the upstream.
func (b *requestBody) attach(out *http.Request) {
	switch {
	case b.pump != nil:
		out.Body, out.Trailer = b.pump, b.pump.trailer
	case b.flight != nil:
		out.Body = b.flight.open()
		out.GetBody = func() (io.ReadCloser, error) { return b.flight.open(), nil }
	default:
		out.Body, out.ContentLength = nil, 0
	}
}

// finish sees to it that nobody reads the client's body any more. patient says
// that the client has its answer already and may take its time. It tells whether
// the client's connection is spoiled by it.
func (b *requestBody) finish(patient bool) (spoiled bool) {
	if b.pump != nil {
		spoiled = b.pump.finish(patient)
	}
	if b.flight != nil {
		b.flight.done()
	}
	return spoiled
}

// flight is a small body in memory. Its buffer goes back to the pool when
// neither the relay nor the transport needs it.
type flight struct {
	p    *Proxy
	buf  []byte
	size int64
	body []byte
	refs atomic.Int32
	kept atomic.Bool // somebody else has the buffer for good
}

func newFlight(p *Proxy, buf []byte, size int64) *flight {
	f := &flight{p: p, buf: buf, size: size}
	f.refs.Store(1)
	return f
}

// open gives the body to the transport, which must say wrote when it is done.
// The transport writes bytes.Reader and head at once, and nothing of its own.
func (f *flight) open() io.ReadCloser {
	f.refs.Add(1)
	return io.NopCloser(bytes.NewReader(f.body))
}

// wrote says that the transport needs the body no more.
func (f *flight) wrote() {
	if f != nil && f.refs.Add(-1) == 0 && !f.kept.Load() {
		f.p.buffers.put(f.buf)
	}
}

// done says that the relay needs the body no more.
func (f *flight) done() {
	f.p.flight.Add(-f.size)
	f.wrote()
}
