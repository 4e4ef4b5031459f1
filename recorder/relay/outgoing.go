package relay

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"sync"
	"sync/atomic"
)

// outgoing is the request to the upstream. Plain HTTP/1.1 uses a plainConn,
// anything else http.Transport.
//
// The transport sends a request again by itself when a kept connection turns out to
// be dead. That is right as long as nothing of the request was written: neither
// side can tell it from a first attempt. Anything more would be a retry that the
// agent did not ask for, and is stopped. (Over HTTP/2 the transport sends again
// only what the server says it did not process.)
type outgoing struct {
	request      *http.Request
	plain        *plainConn  // nil if the transport is used
	call         canceller   // stops the call
	stopWatching func() bool // stops waiting for the client to hang up

	mu     sync.Mutex
	conn   *upstreamConn // of the current attempt
	over   bool          // the head of the answer has arrived
	vetoed atomic.Bool
}

// prepare makes the request. It reports whether the request uses a plainConn.
func (o *outgoing) prepare(x *exchange) bool {
	in := x.in
	plain := x.Upstream.plain && in.Header["Expect"] == nil
	stripRequest(in.Header)
	o.request = &http.Request{}
	if !plain {
		ctx, cancel := context.WithCancel(in.Context())
		o.call.with(cancel)
		o.request = in.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
			GotConn:        func(info httptrace.GotConnInfo) { o.gotConn(cancel, info) },
			WroteRequest:   func(httptrace.WroteRequestInfo) { x.body.small.unref() },
			Got1xxResponse: func(code int, h textproto.MIMEHeader) error { return o.inform(x.w, code, h) },
		}))
	}
	out := o.request
	out.Method, out.Header, out.ContentLength = in.Method, in.Header, in.ContentLength
	out.RequestURI, out.Host, out.Close, out.TransferEncoding = "", "", false, nil
	out.URL = x.Upstream.target(x.Path, in.URL)
	x.body.attach(out)
	return plain
}

// roundTrip sends the request through the transport.
func (o *outgoing) roundTrip(x *exchange) (*http.Response, error) {
	resp, err := x.relay.transport.RoundTrip(o.request)
	o.headIsThere()
	return resp, err
}

func (o *outgoing) headIsThere() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over = true
}

// dial gets a connection for a plain request.
func (o *outgoing) dial(x *exchange) (err error) {
	if o.plain = x.relay.plain.idleConn(x.Upstream.host); o.plain == nil {
		ctx, cancel := context.WithCancel(x.in.Context())
		defer cancel()
		o.call.with(cancel)
		if o.plain, err = x.relay.plain.dial(ctx, x.Upstream.host); err != nil {
			return err
		}
	}
	o.plain.begin()
	o.call.with(o.plain.interrupt)
	o.stopWatching = context.AfterFunc(x.in.Context(), o.plain.interrupt)
	return nil
}

// release is called when the exchange is over. whole says that the answer was read
// to its end.
func (o *outgoing) release(x *exchange, whole bool) {
	o.call.with(func() {})
	switch {
	case o.plain == nil && x.resp != nil:
		x.resp.Body.Close()
	case o.plain == nil:
	case o.stopWatching() && whole:
		x.relay.plain.put(o.plain, x.resp)
	default:
		o.plain.Close()
	}
}

func (o *outgoing) gotConn(cancel func(), info httptrace.GotConnInfo) {
	conn := upstreamOf(info.Conn)
	if conn == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	refuse := o.conn != nil && o.conn.sent()
	o.conn = conn
	conn.request(refuse)
	if refuse {
		o.vetoed.Store(true)
		cancel()
	}
}

// reason returns the cause of err.
func (o *outgoing) reason(err error) error {
	if o.vetoed.Load() {
		return errRetry
	}
	return err
}

// inform forwards a 1xx answer. The exception is a 100 that the client asked for:
// reading the body makes the server send one by itself.
func (o *outgoing) inform(w http.ResponseWriter, code int, h textproto.MIMEHeader) error {
	if code == http.StatusContinue && o.request.Header["Expect"] != nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over {
		return errors.New("exchange is over")
	}
	own := w.Header()
	for name, values := range h {
		if !hopHeaders[name] {
			own[name] = values
		}
	}
	w.WriteHeader(code)
	clear(own)
	return nil
}
