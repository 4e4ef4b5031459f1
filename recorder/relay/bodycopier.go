package relay

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/retake-debugger/retake/recorder/spool"
)

// bodyCopier copies a request body from the client to the transport, in a goroutine
// of its own: each chunk is read, recorded and handed over. The transport reads
// from the copier and never from the client's body, so that the body can be
// released when the exchange ends, whatever the transport does.
type bodyCopier struct {
	b      *requestBody
	watch  watch
	state  atomic.Int32
	frames frameBuffer
	chunk  []byte
	err    error // of the last read

	through   atomic.Bool   // the body was read to its end
	headSaved chan struct{} // closed when the first part of a split body is saved, nil if there is none
	filled    chan chunk    // closed at the end
	spent     chan []byte   // buffers whose chunk was sent
	closed    chan struct{}
	once      sync.Once
	done      chan struct{}

	cur     []byte // what the transport has not read of a chunk
	last    []byte
	end     error
	trailer http.Header // of the request to the upstream: names first, values at the end
}

// chunk is part of a body on its way to the transport. buf is the buffer it lies
// in, nil if that must not be used again.
type chunk struct{ bytes, buf []byte }

// The states of a bodyCopier.
const (
	copierIdle int32 = iota
	copierRuns
	copierNever
)

// drainGrace is how long a client may go on sending a body that the upstream did
// not want, before its connection is closed.
const drainGrace = 2 * time.Second

var errBodyClosed = errors.New("request body closed")

func newBodyCopier(b *requestBody) *bodyCopier {
	p := &bodyCopier{b: b, filled: make(chan chunk, 1), spent: make(chan []byte, 3), closed: make(chan struct{}), done: make(chan struct{})}
	p.frames = frameBuffer{recording: b.x.Recording, buffers: b.x.relay.buffers, recorded: b.x.frames.recorded}
	p.watch.takeOver = p.takeOver
	p.trailer = b.x.in.Trailer.Clone()
	return p
}

// start starts the copier, once.
func (p *bodyCopier) start() {
	if p.state.CompareAndSwap(copierIdle, copierRuns) {
		p.b.x.relay.watchdog.add(&p.watch)
		go p.run()
	}
}

func (p *bodyCopier) run() {
	defer p.b.x.recovered()
	for p.read() && p.hand() {
	}
}

// takeOver goes on after a write that stalls.
func (p *bodyCopier) takeOver() {
	defer p.b.x.recovered()
	p.frames.abandon()
	if p.hand() {
		p.run()
	}
}

// goOn begins with bytes that were read already.
func (p *bodyCopier) goOn(read []byte, err error) {
	<-p.headSaved
	p.frames.reserve(int64(len(read)))
	copy(p.frames.room(), read)
	if p.record(len(read), err) && p.hand() {
		p.run()
	}
}

// read reads and records a chunk. It returns false if another goroutine goes on.
func (p *bodyCopier) read() bool {
	select {
	case buf := <-p.spent:
		p.frames.buf = buf
	default:
	}
	p.frames.reserve(0)
	n, err := p.b.x.in.Body.Read(p.frames.room())
	return p.record(n, err)
}

func (p *bodyCopier) record(n int, err error) bool {
	p.chunk, p.err = p.frames.appendBody(spool.FrameRequest, n), err
	if err == io.EOF {
		p.through.Store(true)
		p.frames.appendMeta(spool.FrameRequestEnd, &spool.Ending{Trailer: p.b.x.in.Trailer})
	}
	return p.frames.write(&p.watch)
}

// hand passes the chunk to the transport. It returns false after the last one.
func (p *bodyCopier) hand() bool {
	if len(p.chunk) > 0 {
		h := chunk{bytes: p.chunk}
		if p.frames.buf != nil {
			h.buf = p.frames.buf[:0]
			p.frames.buf = nil
		}
		select {
		case p.filled <- h:
		case <-p.closed:
			p.drain()
			return false
		}
	}
	if p.err == nil {
		return true
	}
	p.end = p.err
	if p.err != io.EOF {
		p.b.gone.Store(true)
	}
	close(p.filled)
	close(p.done)
	return false
}

// drain reads what the client still sends of a body that the upstream does not
// want. Some clients read the answer only when they have sent everything.
func (p *bodyCopier) drain() {
	buf := p.frames.buffers.get(mediumBytes)
	for p.err == nil {
		_, p.err = p.b.x.in.Body.Read(buf)
	}
	p.frames.buffers.put(buf)
	close(p.done)
}

// Read returns the next bytes to the transport.
func (p *bodyCopier) Read(b []byte) (int, error) {
	p.start()
	for len(p.cur) == 0 {
		if p.last != nil {
			p.spent <- p.last // has room for all buffers
			p.last = nil
		}
		select {
		case h, ok := <-p.filled:
			if !ok {
				if p.end == io.EOF {
					maps.Copy(p.trailer, p.b.x.in.Trailer)
				}
				p.recycle()
				return 0, p.end
			}
			p.cur, p.last = h.bytes, h.buf
		case <-p.closed:
			return 0, errBodyClosed
		}
	}
	n := copy(b, p.cur)
	p.cur = p.cur[n:]
	return n, nil
}

// recycle returns the buffers to the pool after the last chunk.
func (p *bodyCopier) recycle() {
	for {
		select {
		case buf := <-p.spent:
			p.frames.buffers.put(buf)
		default:
			return
		}
	}
}

// Close says that the transport reads no more.
func (p *bodyCopier) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// finish ends the copier. When it returns, nothing reads the client's body. It
// reports whether the connection cannot be used again: the body did end, so that
// the server would keep the connection, but reading from it was interrupted.
func (p *bodyCopier) finish(patient bool) (spoiled bool) {
	p.Close()
	if p.state.CompareAndSwap(copierIdle, copierNever) {
		return false
	}
	defer p.b.x.relay.watchdog.remove(&p.watch)
	if patient {
		grace := time.NewTimer(drainGrace)
		defer grace.Stop()
		select {
		case <-p.done:
			return false
		case <-grace.C:
		}
	}
	select {
	case <-p.done:
		return false
	default:
	}
	if p.through.Load() {
		<-p.done
		return false
	}
	// Wakes the copier. The server closes the connection afterwards if the body has
	// not ended.
	http.NewResponseController(p.b.x.w).SetReadDeadline(time.Unix(1, 0))
	<-p.done
	return p.err == io.EOF
}
