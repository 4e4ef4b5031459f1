package relay

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/retake-debugger/retake/recorder/spool"
	"github.com/retake-debugger/retake/transcript"
)

// Upgrade returns the protocol that a request wants to change to, or "".
func Upgrade(h http.Header) string {
	for _, v := range h["Connection"] {
		for token := range strings.SplitSeq(v, ",") {
			if strings.EqualFold(strings.TrimSpace(token), "upgrade") {
				return h.Get("Upgrade")
			}
		}
	}
	return ""
}

// tunnel is an exchange that leaves HTTP: after the upstream's 101, bytes pass both
// ways as they come. They are recorded as the two bodies.
type tunnel struct {
	relay   *Relay
	name    string       // of the upstream
	writer  *AsyncWriter // nil: not recorded
	call    canceller
	stopped atomic.Bool
}

// Tunnel relays a request that wants to leave HTTP for another protocol.
func (r *Relay) Tunnel(w http.ResponseWriter, in *http.Request, c Call) {
	t := &tunnel{relay: r, name: c.Upstream.Name}
	ctx, cancel := context.WithCancel(in.Context())
	defer cancel()
	t.call.with(cancel)
	r.enter(t)
	defer r.leave(t)
	if c.Recording != nil {
		t.writer = r.writers.New(c.Recording)
		t.writer.Meta(spool.FrameBegin, c.Begin)
	}
	out := in.WithContext(ctx)
	protocol := Upgrade(in.Header)
	stripRequest(out.Header)
	out.Header["Connection"], out.Header["Upgrade"] = []string{"Upgrade"}, []string{protocol}
	out.URL, out.RequestURI, out.Host, out.Close = c.Upstream.target(c.Path, in.URL), "", "", false
	resp, err := r.transport.RoundTrip(out)
	if err != nil {
		t.fail(w, err)
		return
	}
	defer resp.Body.Close()
	t.writer.Meta(spool.FrameHead, &spool.Head{Status: resp.StatusCode, Header: resp.Header})
	if resp.StatusCode != http.StatusSwitchingProtocols {
		t.answer(w, resp)
		return
	}
	t.join(w, resp)
}

func (t *tunnel) stop() {
	t.stopped.Store(true)
	t.call.cancel()
}

func (t *tunnel) fail(w http.ResponseWriter, err error) {
	e := &spool.Ending{Outcome: transcript.UpstreamReset, Error: UpstreamFailure(err)}
	a := ErrorReply{Type: e.Error.Type, Code: e.Error.Code, Message: t.name + ": " + e.Error.Message}
	t.writer.Meta(spool.FrameHead, &spool.Head{Status: http.StatusBadGateway, Header: http.Header{"Content-Type": {"application/json"}}})
	t.writer.Body(spool.FrameResponse, a.json())
	t.writer.End(e)
	WriteError(w, http.StatusBadGateway, a)
}

// answer relays the answer of an upstream that stays with HTTP.
func (t *tunnel) answer(w http.ResponseWriter, resp *http.Response) {
	copyResponse(w.Header(), resp)
	w.WriteHeader(resp.StatusCode)
	_, err := t.copy(flushWriter{w, http.NewResponseController(w)}, resp.Body, spool.FrameResponse)
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
		_, err := t.copy(server, buffered.Reader, spool.FrameRequest)
		ended <- err
	}()
	go func() {
		_, err := t.copy(client, server, spool.FrameResponse)
		ended <- err
	}()
	t.call.with(func() {
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

// copy copies bytes as they come and records them before it passes them on.
func (t *tunnel) copy(dst io.Writer, src io.Reader, kind byte) (int64, error) {
	buf := t.relay.buffers.get(mediumBytes)
	defer t.relay.buffers.put(buf)
	var total int64
	for {
		n, err := src.Read(buf)
		t.writer.Body(kind, buf[:n])
		if n > 0 {
			if _, werr := dst.Write(buf[:n]); werr != nil {
				if kind == spool.FrameResponse {
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
			if kind == spool.FrameRequest {
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
		t.writer.End(&spool.Ending{Outcome: transcript.RecorderStopped})
	case err == nil:
		t.writer.End(&spool.Ending{Outcome: transcript.OK})
	case errors.As(err, &client), errors.Is(err, context.Canceled), errors.Is(err, net.ErrClosed):
		t.writer.End(&spool.Ending{Outcome: transcript.ClientDisconnect})
	default:
		t.writer.End(&spool.Ending{Outcome: transcript.UpstreamReset, Error: UpstreamFailure(err)})
	}
}

// flushWriter flushes after each write.
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
