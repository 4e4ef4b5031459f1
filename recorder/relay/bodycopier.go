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

// bodyCopier moves a request body from the client to the transport piece by piece,
// in a goroutine of its own: each piece is read, recorded and handed over. The
// transport reads from the pump, never from the client's body, so that the
// body can be let go when the exchange ends, whatever the transport does.
type bodyCopier struct {
	b      *requestBody
	watch  watch
	state  atomic.Int32
	frames frameBuffer
	piece  []byte
	err    error // of the last read

	through   atomic.Bool   // the body has been read to its end
	headSaved chan struct{} // closed when what came before is saved, nil if nothing did
	filled    chan chunk    // closed at the end
	spent     chan []byte   // buffers whose piece is through
	closed    chan struct{}
	once      sync.Once
	done      chan struct{}

	cur     []byte // the rest belongs to the transport
	last    []byte
	end     error
	trailer http.Header // of the request to the upstream: announced, then filled
}

// chunk is a piece on its way to the transport and the buffer it lies in, nil
// if that is not to be used again.
type chunk struct{ bytes, buf []byte }

// The states of a pump.
const (
	copierIdle int32 = iota
	copierRuns
	copierNever
)

// drainGrace is how long a client may go on sending a body that the upstream
// did not want, before its connection is closed.
const drainGrace = 2 * time.Second

var errBodyClosed = errors.New("request body closed")

func newBodyCopier(b *requestBody) *bodyCopier {
	p := &bodyCopier{b: b, filled: make(chan chunk, 1), spent: make(chan []byte, 3), closed: make(chan struct{}), done: make(chan struct{})}
	p.frames = frameBuffer{recording: b.x.Recording, buffers: b.x.relay.buffers, recorded: b.x.frames.recorded}
	p.watch.takeOver = p.takeOver
	p.trailer = b.x.in.Trailer.Clone()
	return p
}

// start runs the pump, if nobody has.
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

// takeOver goes on behind a write that stalls.
func (p *bodyCopier) takeOver() {
	defer p.b.x.recovered()
	p.frames.abandon()
	if p.hand() {
		p.run()
	}
}

// goOn begins with a piece that has been read already.
func (p *bodyCopier) goOn(piece []byte, err error) {
	<-p.headSaved
	p.frames.reserve(int64(len(piece)))
	copy(p.frames.room(), piece)
	if p.record(len(piece), err) && p.hand() {
		p.run()
	}
}

// read reads and records a piece. It says false if somebody else goes on.
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
	p.piece, p.err = p.frames.appendBody(spool.FrameRequest, n), err
	if err == io.EOF {
		p.through.Store(true)
		p.frames.appendMeta(spool.FrameRequestEnd, &spool.Ending{Trailer: p.b.x.in.Trailer})
	}
	return p.frames.write(&p.watch)
}

// hand gives the piece to the transport. It says false when there is no more.
func (p *bodyCopier) hand() bool {
	if len(p.piece) > 0 {
		h := chunk{bytes: p.piece}
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

// drain takes what the client still sends of a body that the upstream does not
// want: some clients read the answer only when they have sent everything.
func (p *bodyCopier) drain() {
	buf := p.frames.buffers.get(mediumBytes)
	for p.err == nil {
		_, p.err = p.b.x.in.Body.Read(buf)
	}
	p.frames.buffers.put(buf)
	close(p.done)
}

// Read gives the transport the next bytes.
func (p *bodyCopier) Read(b []byte) (int, error) {
	p.start()
	for len(p.cur) == 0 {
		if p.last != nil {
			p.spent <- p.last // has room for all there are
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

// recycle gives the buffers back when all pieces are through.
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

// Close says that the transport wants no more.
func (p *bodyCopier) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// finish ends the pump. When it returns nobody reads the client's body. It tells
// whether the connection is spoiled: the server would keep it, since the body
// came to its end after all, but reading from it has been stopped.
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
	// Wakes the pump. The server closes the connection afterwards if the body is
	// not through.
	http.NewResponseController(p.b.x.w).SetReadDeadline(time.Unix(1, 0))
	<-p.done
	return p.err == io.EOF
}
