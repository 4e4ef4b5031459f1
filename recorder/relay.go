package recorder

import (
	"errors"
	"io"
	"net/http"
	"net/textproto"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/retake-debugger/retake/transcript"
)

// relay is one exchange on its way through the Proxy.
//
// The way is cut into steps. The server's goroutine walks them, for another one
// would cost as much as all of them: its stack grows anew for each exchange.
// When a step blocks that must not hold the exchange (a write to the spool), the
// watchdog sends a fresh goroutine on with the step after it, and the blocked
// one walks no further when it comes back. If the server's is still blocked when
// all is done, the end of the answer is written in its place (see part).
type relay struct {
	p    *Proxy
	w    http.ResponseWriter
	in   *http.Request
	up   *upstream
	ask  string // path that the client asked for
	path string // at the upstream
	url  string // as recorded

	c     *capture
	stage stage
	watch watch
	next  step // where a fresh goroutine goes on
	stall bool // the step that may block is a write to the spool

	route   outgoing
	sent    bool // the upstream has been called
	body    requestBody
	resp    *http.Response
	piece   []byte // of the answer, read last
	readErr error
	end     *ending
	headOut chan struct{} // closed once a head that was held has gone out

	lost    atomic.Bool // a goroutine was left in a write
	stopped atomic.Bool // the proxy is closing
	abort   bool        // the client's connection is to be cut
	over    sync.Once
	done    chan struct{}
}

// step is one part of the way. It gives the next one, nil if this goroutine's
// way is over.
type step func(*relay) step

func newRelay(p *Proxy, w http.ResponseWriter, r *http.Request, up *upstream, asked, path string) *relay {
	x := &relay{p: p, w: w, in: r, up: up, ask: asked, path: path, done: make(chan struct{})}
	x.url = recordedURL(up, path, r)
	x.watch.taken = x.goOn
	x.body.x = x
	return x
}

func (x *relay) stop() {
	x.stopped.Store(true)
	x.route.call.cut()
}

// serve relays the exchange. When it returns nobody uses the request or the
// response writer any more.
func (x *relay) serve() {
	// Without this the server closes the request body as soon as the answer
	// begins, while the transport may still read it.
	http.NewResponseController(x.w).EnableFullDuplex()
	x.p.enter(x)
	x.p.dog.add(&x.watch)
	if x.in.ProtoMajor == 1 {
		x.run((*relay).begin)
	} else { // nobody else can write the end
		go x.run((*relay).begin)
	}
	<-x.done
	if x.abort {
		panic(http.ErrAbortHandler)
	}
}

// run walks the steps from s on.
func (x *relay) run(s step) {
	defer x.recovered()
	for s != nil {
		s = s(x)
	}
}

// goOn is called in a fresh goroutine when a step blocks.
func (x *relay) goOn() {
	if x.stall {
		x.lost.Store(true)
		x.stage.lose()
		if x.body.flight != nil {
			x.body.flight.kept.Store(true)
		}
	}
	x.run(x.next)
}

// recovered keeps a bug from taking other agents' streams with it.
func (x *relay) recovered() {
	if v := recover(); v != nil {
		x.p.opts.Log.Error("relay failed", "panic", describePanic(v))
		x.abort = true
		x.c.close(failed(transcript.UpstreamReset, "failure", "the recorder failed"))
		x.finish()
	}
}

// finish lets the server's goroutine go. Before, it sees to it that nobody else
// uses the request.
func (x *relay) finish() step {
	x.over.Do(func() {
		x.p.dog.remove(&x.watch)
		x.p.leave(x)
		spoiled := x.body.finish(!x.abort && (x.resp == nil || x.resp.ContentLength >= 0))
		if spoiled || x.lost.Load() && x.c.hangs() {
			x.part()
		}
		close(x.done)
	})
	return nil
}

// save writes the staged frames and goes on with next, elsewhere if that blocks.
func (x *relay) save(next step) step {
	x.next, x.stall = next, true
	if !x.stage.write(&x.watch) {
		return nil
	}
	x.stage.buf = x.stage.buf[:0]
	return next
}

// begin stages what is known of the request and chooses how its body travels.
func (x *relay) begin() step {
	o := &x.p.opts
	x.stage.buffers = x.p.buffers
	x.stage.grow(0)
	if x.c = o.capture(x.in, x.ask); x.c != nil {
		x.stage.c, x.stage.record = x.c, true
		b := o.begin(x.in.Context(), x.c, x.in)
		b.URL, b.Upstream = x.url, x.up.name
		x.stage.meta(frameBegin, b)
	}
	return x.body.choose()
}

// send calls the upstream.
func (x *relay) send() step {
	x.sent = true
	if x.route.prepare(x) {
		return x.sendPlain()
	}
	return x.receive(x.route.roundTrip(x))
}

// sendPlain writes the request to a connection of our own. While that takes its
// time, or the body comes in pieces, somebody else waits for the answer: an
// upstream may give it before it has read everything.
func (x *relay) sendPlain() step {
	if err := x.route.dial(x); err != nil {
		return x.fail(err)
	}
	conn, request, body := x.route.plain, x.route.request, &x.body
	if body.pump != nil {
		go func() {
			if conn.write(request) != nil && body.gone.Load() {
				conn.interrupt()
			}
		}()
		return x.receivePlain()
	}
	x.next, x.stall = (*relay).receivePlain, false
	region := x.watch.enter(holdTicks)
	_ = conn.write(request) // if it fails, reading says why
	body.flight.wrote()
	if !x.watch.leave(region) {
		return nil
	}
	if body.flight == nil { // an answer may take long, no buffer waits for it
		x.stage.drop()
	} else {
		body.flight.done()
		body.flight, x.stage.buf = nil, nil
	}
	return x.receivePlain()
}

func (x *relay) receivePlain() step {
	o := &x.route
	resp, err := o.plain.read(o.request, func(code int, h textproto.MIMEHeader) error { return o.inform(x.w, code, h) })
	return x.receive(resp, err)
}

// receive takes the head of the answer.
func (x *relay) receive(resp *http.Response, err error) step {
	if err != nil {
		return x.fail(err)
	}
	x.resp = resp
	if x.body.flight != nil {
		x.stage.buf = nil // the transport may still need it
	}
	x.stage.grow(0)
	x.stage.meta(frameHead, &head{Status: resp.StatusCode, Header: resp.Header})
	if x.pieceFollows() && len(x.stage.buf) < stagedHead {
		return x.readFirst()
	}
	return x.save((*relay).deliverHead)
}

// pieceFollows tells whether the first piece of the answer is likely to be
// there with its head.
func (x *relay) pieceFollows() bool {
	if x.in.Method == http.MethodHead {
		return false
	}
	return x.resp.ContentLength > 0 || (x.route.plain != nil && x.route.plain.in.Buffered() > 0)
}

// readFirst reads the first piece before the head is delivered, so that both go
// on together. If the piece takes its time, the watchdog has the head sent alone.
func (x *relay) readFirst() step {
	x.headOut = make(chan struct{})
	room := x.stage.room()
	x.next, x.stall = (*relay).deliverHeld, false
	region := x.watch.enter(holdTicks)
	n, err := x.resp.Body.Read(room)
	if x.watch.leave(region) {
		x.writeHead()
		return x.gotPiece(n, err)
	}
	<-x.headOut
	x.stage.grow(int64(n))
	copy(x.stage.room(), room[:n])
	return x.gotPiece(n, err)
}

// deliverHeld sends a head alone that was waiting for a piece.
func (x *relay) deliverHeld() step {
	// The piece is being read behind the staged head, so the head moves.
	x.stage.buf = append(x.p.buffers.get(int64(len(x.stage.buf)))[:0], x.stage.buf...)
	return x.save(func(x *relay) step {
		x.writeHead()
		_ = x.flush()
		x.stage.grow(0)
		close(x.headOut)
		return nil
	})
}

func (x *relay) writeHead() {
	copyResponse(x.w.Header(), x.resp)
	if x.lost.Load() { // see part
		x.w.Header()["Connection"] = []string{"close"}
	}
	x.w.WriteHeader(x.resp.StatusCode)
}

func (x *relay) deliverHead() step {
	x.writeHead()
	if err := x.flush(); err != nil {
		return x.clientGone()
	}
	return (*relay).read
}

// read waits for the next piece of the answer.
func (x *relay) read() step {
	size := int64(0)
	if x.route.plain != nil && x.resp.Body != http.NoBody {
		x.stage.drop() // no buffer waits for the piece
		size = x.route.plain.arrived()
	}
	x.stage.grow(size)
	n, err := x.resp.Body.Read(x.stage.room())
	return x.gotPiece(n, err)
}

func (x *relay) gotPiece(n int, err error) step {
	x.piece, x.readErr = x.stage.piece(frameResponse, n), err
	if err != nil {
		x.end = x.outcome(err)
		x.stage.meta(frameEnd, x.end)
	}
	return x.save((*relay).deliver)
}

// deliver hands the piece on that was read last.
func (x *relay) deliver() step {
	if err := x.writePiece(); err != nil {
		return x.clientGone()
	}
	switch x.readErr {
	case nil:
		return (*relay).read
	case io.EOF:
		copyTrailer(x.w.Header(), x.resp)
	default:
		x.abort = true
	}
	return x.close()
}

func (x *relay) writePiece() error {
	if len(x.piece) == 0 {
		return nil
	}
	var conn *clientConn
	if len(x.piece) >= gatherFrom {
		conn = clientOf(x.in)
	}
	conn.gather()
	_, err := x.w.Write(x.piece)
	if err == nil && (x.readErr != io.EOF || x.resp.ContentLength >= 0) {
		err = x.flush() // else the server does, with the end of the chunks
	}
	return errors.Join(err, conn.release())
}

// outcome says how an answer ended whose last read gave err.
func (x *relay) outcome(err error) *ending {
	switch {
	case err == io.EOF:
		return &ending{Outcome: transcript.OK, Trailer: x.resp.Trailer}
	case x.stopped.Load():
		return &ending{Outcome: transcript.RecorderStopped}
	case x.in.Context().Err() != nil || x.body.gone.Load():
		return &ending{Outcome: transcript.ClientDisconnect}
	}
	return &ending{Outcome: transcript.UpstreamReset, Error: upstreamFailure(err)}
}

// clientGone ends the exchange because the client takes no more.
func (x *relay) clientGone() step {
	x.route.call.cut()
	x.abort = true
	x.end = &ending{Outcome: transcript.ClientDisconnect}
	if x.stopped.Load() {
		x.end.Outcome = transcript.RecorderStopped
	}
	x.stage.meta(frameEnd, x.end)
	return x.save((*relay).close)
}

// close is the last step.
func (x *relay) close() step {
	x.route.release(x, x.resp != nil && x.readErr == io.EOF)
	if x.body.pump != nil && !x.abort {
		_ = x.flush() // what the client sends may be waited for
	}
	if x.body.flight == nil || x.resp != nil {
		x.stage.drop()
	}
	x.c.close(x.end)
	return x.finish()
}

// fail answers for an upstream that did not.
func (x *relay) fail(err error) step {
	err = x.route.reason(err)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	x.end = x.outcome(err)
	if x.body.flight != nil && x.sent {
		x.stage.buf = nil // the transport may still need it
	}
	if x.end.Error == nil {
		x.abort = true
		x.stage.meta(frameEnd, x.end)
		return x.save((*relay).close)
	}
	x.p.opts.Log.Warn("upstream failed", "upstream", x.up.name, "code", x.end.Error.Code, "error", x.end.Error.Message)
	a := apology{Type: x.end.Error.Type, Code: x.end.Error.Code, Message: x.up.name + ": " + x.end.Error.Message}
	body := a.body()
	x.stage.meta(frameHead, &head{Status: http.StatusBadGateway, Header: http.Header{"Content-Type": {"application/json"}}})
	x.stage.grow(int64(len(body)))
	copy(x.stage.room(), body)
	x.stage.piece(frameResponse, len(body))
	x.stage.meta(frameEnd, x.end)
	return x.save(func(x *relay) step {
		x.w.Header()["Content-Length"] = []string{strconv.Itoa(len(body))}
		apologise(x.w, http.StatusBadGateway, a)
		_ = x.flush()
		return x.close()
	})
}

func (x *relay) flush() error {
	if f, ok := x.w.(interface{ FlushError() error }); ok {
		return f.FlushError()
	}
	return http.NewResponseController(x.w).Flush()
}
