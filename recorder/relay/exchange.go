package relay

import (
	"errors"
	"io"
	"net/http"
	"net/textproto"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/retake-debugger/retake/recorder/spool"
	"github.com/retake-debugger/retake/transcript"
)

// exchange is one request on its way to an upstream and its answer on the way back.
// The package comment has its states.
type exchange struct {
	relay *Relay
	Call
	w  http.ResponseWriter
	in *http.Request

	frames frameBuffer
	watch  watch
	next   step // where another goroutine goes on if a step blocks
	stall  bool // the step that may block is a write to the spool

	route    outgoing
	sent     bool // the upstream has been called
	body     requestBody
	resp     *http.Response
	chunk    []byte // of the answer, read last
	readErr  error
	end      *spool.Ending
	headSent chan struct{} // closed once deliverHeadAlone has sent the head

	leftWriting atomic.Bool // a goroutine is stuck in a write, or was
	stopped     atomic.Bool // the proxy is closing
	abort       bool        // the client's connection must be cut
	finishOnce  sync.Once
	done        chan struct{}
}

// step is one state of an exchange. It returns the next one, or nil if another
// goroutine goes on or the exchange is over.
type step func(*exchange) step

// Forward relays a request to its upstream and the answer back, and records both.
// When it returns, nothing uses the request or the response writer any more.
func (r *Relay) Forward(w http.ResponseWriter, in *http.Request, c Call) {
	x := &exchange{relay: r, w: w, in: in, Call: c, done: make(chan struct{})}
	x.watch.takeOver = x.takeOver
	x.body.x = x
	x.serve()
}

func (x *exchange) stop() {
	x.stopped.Store(true)
	x.route.call.cancel()
}

// serve runs the exchange and returns when it is over.
func (x *exchange) serve() {
	// Without this the server closes the request body as soon as the answer begins,
	// while the transport may still read it.
	http.NewResponseController(x.w).EnableFullDuplex()
	x.relay.enter(x)
	x.relay.watchdog.add(&x.watch)
	if x.in.ProtoMajor == 1 {
		x.run((*exchange).begin)
	} else { // over HTTP/2 nothing else can write the end, see hijackEnd
		go x.run((*exchange).begin)
	}
	<-x.done
	if x.abort {
		panic(http.ErrAbortHandler)
	}
}

// run walks the steps from s on.
func (x *exchange) run(s step) {
	defer x.recovered()
	for s != nil {
		s = s(x)
	}
}

// takeOver is called by the watchdog, in a fresh goroutine, when a step blocks.
func (x *exchange) takeOver() {
	if x.stall {
		x.leftWriting.Store(true)
		x.frames.abandon()
		if x.body.small != nil {
			x.body.small.leaked.Store(true)
		}
	}
	x.run(x.next)
}

// recovered keeps a bug from breaking the streams of other agents.
func (x *exchange) recovered() {
	if v := recover(); v != nil {
		x.relay.log.Error("relay failed", "panic", describePanic(v))
		x.abort = true
		x.Recording.Close(&spool.Ending{Outcome: transcript.UpstreamReset, Error: &transcript.Error{Type: "upstream_error", Code: "failure", Message: "the recorder failed"}})
		x.finish()
	}
}

// finish releases the server's goroutine, once nothing else uses the request.
func (x *exchange) finish() step {
	x.finishOnce.Do(func() {
		x.relay.watchdog.remove(&x.watch)
		x.relay.leave(x)
		spoiled := x.body.finish(!x.abort && (x.resp == nil || x.resp.ContentLength >= 0))
		if spoiled || x.leftWriting.Load() && x.Recording.Hangs() {
			x.hijackEnd()
		}
		close(x.done)
	})
	return nil
}

// save writes the frames that wait and returns next. If the write stalls it returns
// nil, and another goroutine goes on with next.
func (x *exchange) save(next step) step {
	x.next, x.stall = next, true
	if !x.frames.write(&x.watch) {
		return nil
	}
	x.frames.buf = x.frames.buf[:0]
	return next
}

// begin makes the first frame and chooses how the body travels.
func (x *exchange) begin() step {
	x.frames.buffers = x.relay.buffers
	x.frames.reserve(0)
	if x.Recording != nil {
		x.frames.recording, x.frames.recorded = x.Recording, true
		x.frames.appendMeta(spool.FrameBegin, x.Begin)
	}
	return x.body.choose()
}

// send calls the upstream.
func (x *exchange) send() step {
	x.sent = true
	if x.route.prepare(x) {
		return x.sendPlain()
	}
	return x.gotHead(x.route.roundTrip(x))
}

// sendPlain writes the request to a connection of our own. While that takes time,
// or the body arrives in chunks, another goroutine waits for the answer: an
// upstream may answer before it has read the whole request.
func (x *exchange) sendPlain() step {
	if err := x.route.dial(x); err != nil {
		return x.fail(err)
	}
	conn, request, body := x.route.plain, x.route.request, &x.body
	if body.copier != nil {
		go func() {
			if conn.write(request) != nil && body.gone.Load() {
				conn.interrupt()
			}
		}()
		return x.receivePlain()
	}
	x.next, x.stall = (*exchange).receivePlain, false
	region := x.watch.enter(holdTicks)
	_ = conn.write(request) // if it fails, reading says why
	body.small.unref()
	if !x.watch.leave(region) {
		return nil
	}
	if body.small == nil { // the answer may take long: hold no buffer meanwhile
		x.frames.release()
	} else {
		body.small.done()
		body.small, x.frames.buf = nil, nil
	}
	return x.receivePlain()
}

func (x *exchange) receivePlain() step {
	o := &x.route
	resp, err := o.plain.read(o.request, func(code int, h textproto.MIMEHeader) error { return o.inform(x.w, code, h) })
	return x.gotHead(resp, err)
}

// gotHead receives the head of the answer.
func (x *exchange) gotHead(resp *http.Response, err error) step {
	if err != nil {
		return x.fail(err)
	}
	x.resp = resp
	if x.body.small != nil {
		x.frames.buf = nil // the transport may still need it
	}
	x.frames.reserve(0)
	x.frames.appendMeta(spool.FrameHead, &spool.Head{Status: resp.StatusCode, Header: resp.Header})
	if x.bodyFollows() && len(x.frames.buf) < headRoom {
		return x.readFirst()
	}
	return x.save((*exchange).deliverHead)
}

// bodyFollows reports whether the first bytes of the body are likely to have
// arrived with the head.
func (x *exchange) bodyFollows() bool {
	if x.in.Method == http.MethodHead {
		return false
	}
	return x.resp.ContentLength > 0 || (x.route.plain != nil && x.route.plain.in.Buffered() > 0)
}

// readFirst reads the first chunk of the body before the head is delivered, so that
// both are sent together. If the chunk is late, the watchdog has the head sent
// alone.
func (x *exchange) readFirst() step {
	x.headSent = make(chan struct{})
	room := x.frames.room()
	x.next, x.stall = (*exchange).deliverHeadAlone, false
	region := x.watch.enter(holdTicks)
	n, err := x.resp.Body.Read(room)
	if x.watch.leave(region) {
		x.writeHead()
		return x.gotChunk(n, err)
	}
	<-x.headSent
	x.frames.reserve(int64(n))
	copy(x.frames.room(), room[:n])
	return x.gotChunk(n, err)
}

// deliverHeadAlone sends the head while readFirst still waits for a chunk.
func (x *exchange) deliverHeadAlone() step {
	// The chunk is being read into the place after the head's frame, so the head
	// moves.
	x.frames.buf = append(x.relay.buffers.get(int64(len(x.frames.buf)))[:0], x.frames.buf...)
	return x.save(func(x *exchange) step {
		x.writeHead()
		_ = x.flush()
		x.frames.reserve(0)
		close(x.headSent)
		return nil
	})
}

func (x *exchange) writeHead() {
	copyResponse(x.w.Header(), x.resp)
	if x.leftWriting.Load() { // see hijackEnd
		x.w.Header()["Connection"] = []string{"close"}
	}
	x.w.WriteHeader(x.resp.StatusCode)
}

func (x *exchange) deliverHead() step {
	x.writeHead()
	if err := x.flush(); err != nil {
		return x.clientGone()
	}
	return (*exchange).read
}

// read waits for the next chunk of the answer.
func (x *exchange) read() step {
	size := int64(0)
	if x.route.plain != nil && x.resp.Body != http.NoBody {
		x.frames.release() // hold no buffer while waiting
		size = x.route.plain.arrived()
	}
	x.frames.reserve(size)
	n, err := x.resp.Body.Read(x.frames.room())
	return x.gotChunk(n, err)
}

func (x *exchange) gotChunk(n int, err error) step {
	x.chunk, x.readErr = x.frames.appendBody(spool.FrameResponse, n), err
	if err != nil {
		x.end = x.outcome(err)
		x.frames.appendMeta(spool.FrameEnd, x.end)
	}
	return x.save((*exchange).deliver)
}

// deliver sends the chunk that was read last.
func (x *exchange) deliver() step {
	if err := x.writeChunk(); err != nil {
		return x.clientGone()
	}
	switch x.readErr {
	case nil:
		return (*exchange).read
	case io.EOF:
		copyTrailer(x.w.Header(), x.resp)
	default:
		x.abort = true
	}
	return x.close()
}

func (x *exchange) writeChunk() error {
	if len(x.chunk) == 0 {
		return nil
	}
	var conn *clientConn
	if len(x.chunk) >= gatherFrom {
		conn = clientOf(x.in)
	}
	conn.gather()
	_, err := x.w.Write(x.chunk)
	if err == nil && (x.readErr != io.EOF || x.resp.ContentLength >= 0) {
		err = x.flush() // else the server flushes, with the end of the answer
	}
	return errors.Join(err, conn.release())
}

// outcome returns how an answer ended whose last read returned err.
func (x *exchange) outcome(err error) *spool.Ending {
	switch {
	case err == io.EOF:
		return &spool.Ending{Outcome: transcript.OK, Trailer: x.resp.Trailer}
	case x.stopped.Load():
		return &spool.Ending{Outcome: transcript.RecorderStopped}
	case x.in.Context().Err() != nil || x.body.gone.Load():
		return &spool.Ending{Outcome: transcript.ClientDisconnect}
	}
	return &spool.Ending{Outcome: transcript.UpstreamReset, Error: UpstreamFailure(err)}
}

// clientGone ends the exchange because the client takes no more.
func (x *exchange) clientGone() step {
	x.route.call.cancel()
	x.abort = true
	x.end = &spool.Ending{Outcome: transcript.ClientDisconnect}
	if x.stopped.Load() {
		x.end.Outcome = transcript.RecorderStopped
	}
	x.frames.appendMeta(spool.FrameEnd, x.end)
	return x.save((*exchange).close)
}

// close is the last step.
func (x *exchange) close() step {
	x.route.release(x, x.resp != nil && x.readErr == io.EOF)
	if x.body.copier != nil && !x.abort {
		_ = x.flush() // the copier may still wait for the client
	}
	if x.body.small == nil || x.resp != nil {
		x.frames.release()
	}
	x.Recording.Close(x.end)
	return x.finish()
}

// fail answers in place of an upstream that did not.
func (x *exchange) fail(err error) step {
	err = x.route.reason(err)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	x.end = x.outcome(err)
	if x.body.small != nil && x.sent {
		x.frames.buf = nil // the transport may still need it
	}
	if x.end.Error == nil {
		x.abort = true
		x.frames.appendMeta(spool.FrameEnd, x.end)
		return x.save((*exchange).close)
	}
	x.relay.log.Warn("upstream failed", "upstream", x.Upstream.Name, "code", x.end.Error.Code, "error", x.end.Error.Message)
	a := ErrorReply{Type: x.end.Error.Type, Code: x.end.Error.Code, Message: x.Upstream.Name + ": " + x.end.Error.Message}
	body := a.json()
	x.frames.appendMeta(spool.FrameHead, &spool.Head{Status: http.StatusBadGateway, Header: http.Header{"Content-Type": {"application/json"}}})
	x.frames.reserve(int64(len(body)))
	copy(x.frames.room(), body)
	x.frames.appendBody(spool.FrameResponse, len(body))
	x.frames.appendMeta(spool.FrameEnd, x.end)
	return x.save(func(x *exchange) step {
		x.w.Header()["Content-Length"] = []string{strconv.Itoa(len(body))}
		WriteError(x.w, http.StatusBadGateway, a)
		_ = x.flush()
		return x.close()
	})
}

func (x *exchange) flush() error {
	if f, ok := x.w.(interface{ FlushError() error }); ok {
		return f.FlushError()
	}
	return http.NewResponseController(x.w).Flush()
}
