package recorder

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/retake-debugger/retake/transcript"
)

// upgrade gives the protocol that a request wants to change to, or "".
func upgrade(h http.Header) string {
	for _, v := range h["Connection"] {
		for token := range strings.SplitSeq(v, ",") {
			if strings.EqualFold(strings.TrimSpace(token), "upgrade") {
				return h.Get("Upgrade")
			}
		}
	}
	return ""
}

// tunnel is an exchange that leaves HTTP: after the upstream's 101 bytes go
// both ways as they come. They are recorded as the two bodies.
type tunnel struct {
	p       *Proxy
	a       *aside // nil: not recorded
	call    cutter
	stopped atomic.Bool
}

// upgrade relays a request that wants to leave HTTP. WebSockets to models are
// refused with a 426, at which clients fall back to HTTP, unless they are to be
// relayed.
func (p *Proxy) upgrade(w http.ResponseWriter, r *http.Request, up *upstream, asked, path string) {
	protocol := upgrade(r.Header)
	if strings.EqualFold(protocol, "websocket") && webSocketPath(path) && !p.opts.WebSockets {
		apologise(w, http.StatusUpgradeRequired, apology{Type: "websocket_refused",
			Message: "this recorder takes model calls over HTTP; start it with --websocket relay to pass WebSockets through"})
		return
	}
	t := &tunnel{p: p}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	t.call.by(cancel)
	p.enter(t)
	defer p.leave(t)
	if c := p.opts.capture(r, asked); c != nil {
		t.a = newAside(c)
		b := p.opts.begin(ctx, c, r)
		b.URL, b.Upstream = recordedURL(up, path, r), up.name
		t.a.meta(frameBegin, b)
	}
	out := r.WithContext(ctx)
	stripRequest(out.Header)
	out.Header["Connection"], out.Header["Upgrade"] = []string{"Upgrade"}, []string{protocol}
	out.URL, out.RequestURI, out.Host, out.Close = up.target(path, r.URL), "", "", false
	resp, err := p.transport.RoundTrip(out)
	if err != nil {
		t.fail(w, up, err)
		return
	}
	defer resp.Body.Close()
	t.a.meta(frameHead, &head{Status: resp.StatusCode, Header: resp.Header})
	if resp.StatusCode != http.StatusSwitchingProtocols {
		t.answer(w, resp)
		return
	}
	t.join(w, resp)
}

func (t *tunnel) stop() {
	t.stopped.Store(true)
	t.call.cut()
}

func (t *tunnel) fail(w http.ResponseWriter, up *upstream, err error) {
	e := &ending{Outcome: transcript.UpstreamReset, Error: upstreamFailure(err)}
	a := apology{Type: e.Error.Type, Code: e.Error.Code, Message: up.name + ": " + e.Error.Message}
	t.a.meta(frameHead, &head{Status: http.StatusBadGateway, Header: http.Header{"Content-Type": {"application/json"}}})
	t.a.piece(frameResponse, a.body())
	t.a.end(e)
	apologise(w, http.StatusBadGateway, a)
}

// answer relays the answer of an upstream that stays with HTTP.
func (t *tunnel) answer(w http.ResponseWriter, resp *http.Response) {
	copyResponse(w.Header(), resp)
	w.WriteHeader(resp.StatusCode)
	_, err := t.copy(flushWriter{w, http.NewResponseController(w)}, resp.Body, frameResponse)
	t.end(err)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
}

// join connects both sides until one of them hangs up.
func (t *tunnel) join(w http.ResponseWriter, resp *http.Response) {
	server, ok := resp.Body.(io.ReadWriteCloser)
	if !ok {
		t.end(errors.New("upstream connection cannot be written to"))
		panic(http.ErrAbortHandler)
	}
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		t.end(err)
		panic(http.ErrAbortHandler)
	}
	defer client.Close()
	_ = client.SetDeadline(time.Time{})
	answer := &http.Response{StatusCode: resp.StatusCode, ProtoMajor: 1, ProtoMinor: 1, Header: resp.Header}
	if err := answer.Write(client); err != nil {
		t.end(clientError{err})
		return
	}
	ended := make(chan error, 2)
	go func() {
		_, err := t.copy(server, buffered.Reader, frameRequest)
		ended <- err
	}()
	go func() {
		_, err := t.copy(client, server, frameResponse)
		ended <- err
	}()
	t.call.by(func() {
		client.Close()
		server.Close()
	})
	err = <-ended
	client.Close()
	server.Close()
	<-ended
	t.end(err)
}

// clientError is a failure on the client's side of a tunnel.
type clientError struct{ error }

// copy moves bytes as they come, recording each piece before it is handed on.
func (t *tunnel) copy(dst io.Writer, src io.Reader, kind byte) (int64, error) {
	buf := t.p.buffers.get(pieceBytes)
	defer t.p.buffers.put(buf)
	var total int64
	for {
		n, err := src.Read(buf)
		t.a.piece(kind, buf[:n])
		if n > 0 {
			if _, werr := dst.Write(buf[:n]); werr != nil {
				if kind == frameResponse {
					werr = clientError{werr}
				}
				return total, werr
			}
		}
		total += int64(n)
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			if kind == frameRequest {
				err = clientError{err}
			}
			return total, err
		}
	}
}

func (t *tunnel) end(err error) {
	var client clientError
	switch {
	case t.stopped.Load():
		t.a.end(&ending{Outcome: transcript.RecorderStopped})
	case err == nil:
		t.a.end(&ending{Outcome: transcript.OK})
	case errors.As(err, &client), errors.Is(err, context.Canceled), errors.Is(err, net.ErrClosed):
		t.a.end(&ending{Outcome: transcript.ClientDisconnect})
	default:
		t.a.end(&ending{Outcome: transcript.UpstreamReset, Error: upstreamFailure(err)})
	}
}

// flushWriter hands each piece on at once.
type flushWriter struct {
	http.ResponseWriter
	c *http.ResponseController
}

func (w flushWriter) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	if err == nil {
		err = w.c.Flush()
	}
	return n, err
}
