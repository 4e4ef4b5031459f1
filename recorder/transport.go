package recorder

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/retake-debugger/retake/recorder/relay"
	"github.com/retake-debugger/retake/recorder/spool"
	"github.com/retake-debugger/retake/transcript"
)

// NewTransport returns a RoundTripper that records what passes through base (nil: a
// transport that leaves bodies as they are on the wire). To know the id of an
// exchange, set it with WithID. An answer is recorded when its body was read to the
// end or closed.
//
// A base that unpacks gzip by itself, as http.DefaultTransport does, hides the
// bytes on the wire: then the unpacked ones are recorded.
func NewTransport(base http.RoundTripper, opts Options) http.RoundTripper {
	opts.fill()
	if base == nil {
		base = relay.NewWireTransport(opts.relay())
	}
	return &recordingTransport{base: base, opts: opts, writers: relay.NewAsyncWriters(opts.stall())}
}

type recordingTransport struct {
	base    http.RoundTripper
	opts    Options
	writers *relay.AsyncWriters
}

func (t *recordingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	c := t.opts.record(r, r.URL.Path)
	if c == nil {
		return t.base.RoundTrip(r)
	}
	a := t.writers.New(c)
	b := t.opts.begin(r.Context(), c, r)
	b.URL, b.Upstream = r.URL.String(), r.URL.Host
	out, sent := *r, (*sentBody)(nil) // if base reads the body again for a retry of its own, that is not recorded
	if body := a.BeginInMemory(b, r); body != nil {
		out.Body = body
	} else if a.Meta(spool.FrameBegin, b); r.Body != nil && r.Body != http.NoBody {
		sent = &sentBody{ReadCloser: r.Body, a: a, r: r}
		out.Body = sent
	} else {
		a.Meta(spool.FrameRequestEnd, &spool.Ending{})
	}
	resp, err := t.base.RoundTrip(&out)
	if err != nil {
		e := &spool.Ending{Outcome: transcript.UpstreamReset, Error: relay.UpstreamFailure(err)}
		if r.Context().Err() != nil {
			e = &spool.Ending{Outcome: transcript.ClientDisconnect}
		}
		if sent != nil {
			sent.keep()
		}
		a.End(e)
		return nil, err
	}
	a.Meta(spool.FrameHead, &spool.Head{Status: resp.StatusCode, Header: resp.Header})
	if resp.StatusCode == http.StatusSwitchingProtocols {
		a.End(&spool.Ending{Outcome: transcript.OK}) // what follows is no answer
		return resp, nil
	}
	resp.Body = &receivedBody{ReadCloser: resp.Body, a: a, ctx: r.Context(), resp: resp}
	return resp, nil
}

// sentBody records a request body while the base transport reads it.
type sentBody struct {
	io.ReadCloser
	a     *relay.AsyncWriter
	r     *http.Request
	begun atomic.Bool
}

// keep records the body of a request that was never sent because the upstream could
// not be reached.
func (b *sentBody) keep() {
	if b.begun.Swap(true) || b.r.GetBody == nil {
		return
	}
	body, err := b.r.GetBody()
	if err != nil {
		return
	}
	defer body.Close()
	for p := make([]byte, 32<<10); ; {
		n, err := body.Read(p)
		b.a.Body(spool.FrameRequest, p[:n])
		if err == io.EOF {
			b.a.Meta(spool.FrameRequestEnd, &spool.Ending{Trailer: b.r.Trailer})
		}
		if err != nil {
			return
		}
	}
}

func (b *sentBody) Read(p []byte) (int, error) {
	b.begun.Store(true)
	n, err := b.ReadCloser.Read(p)
	b.a.Body(spool.FrameRequest, p[:n])
	if err == io.EOF {
		b.a.Meta(spool.FrameRequestEnd, &spool.Ending{Trailer: b.r.Trailer})
	}
	return n, err
}

// receivedBody records an answer while the caller reads it.
type receivedBody struct {
	io.ReadCloser
	a    *relay.AsyncWriter
	ctx  context.Context
	resp *http.Response
}

func (b *receivedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	switch {
	case err == nil:
		b.a.Body(spool.FrameResponse, p[:n])
	case err == io.EOF:
		b.a.EndAfter(spool.FrameResponse, p[:n], &spool.Ending{Outcome: transcript.OK, Trailer: b.resp.Trailer})
	case b.ctx.Err() != nil || errors.Is(err, http.ErrBodyReadAfterClose):
		b.a.EndAfter(spool.FrameResponse, p[:n], &spool.Ending{Outcome: transcript.ClientDisconnect})
	default:
		b.a.EndAfter(spool.FrameResponse, p[:n], &spool.Ending{Outcome: transcript.UpstreamReset, Error: relay.UpstreamFailure(err)})
	}
	return n, err
}

func (b *receivedBody) Close() error {
	err := b.ReadCloser.Close()
	b.a.End(&spool.Ending{Outcome: transcript.ClientDisconnect}) // only counts if it has not ended
	return err
}
