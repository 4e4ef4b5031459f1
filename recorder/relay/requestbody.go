package relay

import (
	"bytes"
	"io"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/retake-debugger/retake/recorder/spool"
)

// requestBody brings the client's body to the upstream, in one of three ways. There
// is none. Or it is small and arrives at once: then it is recorded together with
// the head and sent from memory. Or a bodyCopier copies it chunk by chunk.
type requestBody struct {
	x      *exchange
	small  *smallBody  // nil if the body is not small
	copier *bodyCopier // nil unless it copies the body
	gone   atomic.Bool // the client broke off its request

	mu      sync.Mutex
	got     int  // bytes of a small body that have arrived
	isSplit bool // the first part was sent, the rest is copied
}

// smallBodyBudget bounds the memory of all small bodies together. headRoom is the
// room that a buffer has for frames before a small body.
const (
	smallBodyBudget = 32 << 20
	headRoom        = 16 << 10
)

// choose decides how the body travels.
func (b *requestBody) choose() step {
	x, r := b.x, b.x.in
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		x.frames.appendMeta(spool.FrameRequestEnd, &spool.Ending{})
		return x.save((*exchange).send)
	}
	waits := r.Header["Expect"] != nil // for the upstream's 100
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

// collect reads a small body whole. If that takes time, the watchdog has the part
// that arrived sent on (sendPart), and this goroutine copies the rest.
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

// keep counts n more bytes of a small body. It returns false if they belong to the
// copier.
func (b *requestBody) keep(n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.isSplit {
		b.got += n
	}
	return !b.isSplit
}

// split makes the copier for the rest of a small body. The goroutine that collected
// the first part runs it.
func (b *requestBody) split() *bodyCopier {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.isSplit {
		b.isSplit = true
		b.small.leaked.Store(true) // this goroutine and the transport may still use it
		b.copier = newBodyCopier(b)
		b.copier.headSaved = make(chan struct{})
		b.copier.state.Store(copierRuns)
		b.x.relay.watchdog.add(&b.copier.watch)
	}
	return b.copier
}

// sendPart sends the head and the part of a small body that arrived. Both move to
// another buffer, since the rest is being read into the place after them, where
// their frame would end. The copier waits until they are saved, to keep the order.
func (x *exchange) sendPart() step {
	p := x.body.split()
	head, part := x.frames.buf, x.frames.room()[:x.body.got] // got does not change any more
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

// attach sets the body of the request to the upstream.
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

// finish ensures that nothing reads the client's body any more. patient says that
// the client has its answer and may take its time. It reports whether the client's
// connection cannot be used again.
func (b *requestBody) finish(patient bool) (spoiled bool) {
	if b.copier != nil {
		spoiled = b.copier.finish(patient)
	}
	if b.small != nil {
		b.small.done()
	}
	return spoiled
}

// smallBody is a small body in memory. Its buffer returns to the pool when neither
// the exchange nor the transport needs it.
type smallBody struct {
	relay  *Relay
	buf    []byte
	size   int64
	body   []byte
	refs   atomic.Int32
	leaked atomic.Bool // a stuck goroutine has the buffer: it does not return to the pool
}

func newSmallBody(r *Relay, buf []byte, size int64) *smallBody {
	f := &smallBody{relay: r, buf: buf, size: size}
	f.refs.Store(1)
	return f
}

// open returns the body for the transport, which calls unref when it has written
// it. The transport writes a bytes.Reader in one write with the head.
func (f *smallBody) open() io.ReadCloser {
	f.refs.Add(1)
	return io.NopCloser(bytes.NewReader(f.body))
}

// unref counts one user less.
func (f *smallBody) unref() {
	if f != nil && f.refs.Add(-1) == 0 && !f.leaked.Load() {
		f.relay.buffers.put(f.buf)
	}
}

// done says that the exchange does not need the body any more.
func (f *smallBody) done() {
	f.relay.smallBytes.Add(-f.size)
	f.unref()
}
