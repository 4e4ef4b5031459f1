package relay

import (
	"bytes"
	"io"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/retake-debugger/retake/recorder/spool"
)

// requestBody brings the client's body to the upstream, in one of three ways:
// there is none; it is small and comes in at once, is recorded together with
// the head and goes on from memory; or it is pumped piece by piece.
type requestBody struct {
	x      *exchange
	small  *smallBody  // of a small body
	copier *bodyCopier // of a pumped one
	gone   atomic.Bool // the client broke off its request

	mu      sync.Mutex
	got     int  // bytes of a small body that have come in
	isSplit bool // what there was of it has gone on, the rest is pumped
}

// smallBodyBudget bounds the memory for small bodies of all exchanges together,
// stagedHead the head that a small body is staged behind.
const (
	smallBodyBudget = 32 << 20
	headRoom        = 16 << 10
)

// choose picks the way.
func (b *requestBody) choose() step {
	x, r := b.x, b.x.in
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		x.frames.appendMeta(spool.FrameRequestEnd, &spool.Ending{})
		return x.save((*exchange).send)
	}
	waits := r.Header["Expect"] != nil // for the upstream's word
	if n := r.ContentLength; n > 0 && n <= largeBytes-headRoom && len(x.frames.buf) < headRoom-2*endReserve && !waits {
		if x.relay.smallBytes.Add(n) <= smallBodyBudget {
			return b.collect(n)
		}
		x.relay.smallBytes.Add(-n)
	}
	b.copier = newBodyCopier(b)
	if waits { // the transport's first read starts it
		return x.save((*exchange).send)
	}
	return x.save(func(x *exchange) step {
		b.copier.start()
		return x.send()
	})
}

// collect reads a small body whole. If it takes its time, the watchdog sends on
// what there is (sendPart), and this goroutine pumps the rest.
func (b *requestBody) collect(size int64) step {
	x := b.x
	x.frames.reserve(size)
	b.small = newSmallBody(x.relay, x.frames.buf, size)
	room := x.frames.room()[:size]
	x.next, x.stall = (*exchange).sendPart, false
	region := x.watch.enter(holdTicks)
	var err error
	for b.got < len(room) && err == nil {
		var n int
		n, err = x.in.Body.Read(room[b.got:])
		if !b.keep(n) {
			b.copier.goOn(room[b.got:b.got+n], err)
			return nil
		}
	}
	if !x.watch.leave(region) {
		b.split().goOn(nil, err)
		return nil
	}
	b.small.body = x.frames.appendBody(spool.FrameRequest, b.got)
	if b.got < len(room) {
		b.gone.Store(true)
		return x.fail(err)
	}
	x.frames.appendMeta(spool.FrameRequestEnd, &spool.Ending{})
	return x.save((*exchange).send)
}

// keep counts n more bytes of a small body. It says false if they belong to
// the pump already.
func (b *requestBody) keep(n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.isSplit {
		b.got += n
	}
	return !b.isSplit
}

// split makes the pump for the rest of a small body. The goroutine that has
// collected so far runs it.
func (b *requestBody) split() *bodyCopier {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.isSplit {
		b.isSplit = true
		b.small.leaked.Store(true) // by this goroutine and by the transport
		b.copier = newBodyCopier(b)
		b.copier.headSaved = make(chan struct{})
		b.copier.state.Store(copierRuns)
		b.x.relay.watchdog.add(&b.copier.watch)
	}
	return b.copier
}

// sendPart sends the head and what has come in of a small body. It moves to a
// buffer of its own: the rest is being read right behind it, where the end of
// its frame would lie. The pump waits until it is saved, for the order's sake.
func (x *exchange) sendPart() step {
	p := x.body.split()
	head, part := x.frames.buf, x.frames.room()[:x.body.got] // got stays from here on
	x.frames.buf = nil
	x.frames.reserve(int64(len(head) + len(part)))
	x.frames.buf = append(x.frames.buf, head...)
	copy(x.frames.room(), part)
	p.cur = x.frames.appendBody(spool.FrameRequest, len(part))
	return x.save(func(x *exchange) step {
		close(p.headSaved)
		return x.send()
	})
}

// attach gives the body to the request to the upstream.
func (b *requestBody) attach(out *http.Request) {
	switch {
	case b.copier != nil:
		out.Body, out.Trailer = b.copier, b.copier.trailer
	case b.small != nil:
		out.Body = b.small.open()
		out.GetBody = func() (io.ReadCloser, error) { return b.small.open(), nil }
	default:
		out.Body, out.ContentLength = nil, 0
	}
}

// finish sees to it that nobody reads the client's body any more. patient says
// that the client has its answer already and may take its time. It tells whether
// the client's connection is spoiled by it.
func (b *requestBody) finish(patient bool) (spoiled bool) {
	if b.copier != nil {
		spoiled = b.copier.finish(patient)
	}
	if b.small != nil {
		b.small.done()
	}
	return spoiled
}

// smallBody is a small body in memory. Its buffer goes back to the pool when
// neither the relay nor the transport needs it.
type smallBody struct {
	relay  *Relay
	buf    []byte
	size   int64
	body   []byte
	refs   atomic.Int32
	leaked atomic.Bool // somebody else has the buffer for good
}

func newSmallBody(r *Relay, buf []byte, size int64) *smallBody {
	f := &smallBody{relay: r, buf: buf, size: size}
	f.refs.Store(1)
	return f
}

// open gives the body to the transport, which must say wrote when it is done.
// The transport writes bytes.Reader and head at once, and nothing of its own.
func (f *smallBody) open() io.ReadCloser {
	f.refs.Add(1)
	return io.NopCloser(bytes.NewReader(f.body))
}

// unref says that the transport needs the body no more.
func (f *smallBody) unref() {
	if f != nil && f.refs.Add(-1) == 0 && !f.leaked.Load() {
		f.relay.buffers.put(f.buf)
	}
}

// done says that the relay needs the body no more.
func (f *smallBody) done() {
	f.relay.smallBytes.Add(-f.size)
	f.unref()
}
