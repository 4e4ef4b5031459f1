package recorder

import (
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"sync"
	"sync/atomic"
)

// outgoing is the request to the upstream.
//
// The transport sends a request again by itself when a connection that it had
// kept turns out to be dead. That is right as long as nothing of the request
// had been written, which neither side can tell from a first attempt; anything
// more would be a retry that the agent did not ask for, so it is stopped.
// (Over HTTP/2 the transport sends again only what the server says it has not
// processed.)
type outgoing struct {
	mu     sync.Mutex
	conn   *upstreamConn // of the attempt that runs
	over   bool          // the transport has given its answer
	vetoed atomic.Bool
}

// roundTrip sends the request of x and waits for the head of the answer.
func (o *outgoing) roundTrip(x *relay) (*http.Response, error) {
	trace := &httptrace.ClientTrace{
		GotConn:        func(info httptrace.GotConnInfo) { o.gotConn(x, info) },
		WroteRequest:   func(httptrace.WroteRequestInfo) { x.body.flight.wrote() },
		Got1xxResponse: func(code int, h textproto.MIMEHeader) error { return o.inform(x.w, code, h) },
	}
	out := x.in.WithContext(httptrace.WithClientTrace(x.ctx, trace))
	stripRequest(out.Header)
	out.RequestURI, out.Host, out.Close, out.TransferEncoding = "", "", false, nil
	x.body.attach(out)
	proxied := false
	if x.up.scheme == "http" && x.p.opts.Proxy != nil {
		out.URL = x.up.target("/", x.in.URL, false)
		via, err := x.p.opts.Proxy(out)
		proxied = err == nil && via != nil
	}
	out.URL = x.up.target(x.path, x.in.URL, proxied)
	resp, err := x.p.transport.RoundTrip(out)
	o.mu.Lock()
	o.over = true
	o.mu.Unlock()
	return resp, err
}

func (o *outgoing) gotConn(x *relay, info httptrace.GotConnInfo) {
	raw := info.Conn
	if t, ok := raw.(*tls.Conn); ok {
		if t.ConnectionState().NegotiatedProtocol == "h2" {
			return
		}
		raw = t.NetConn()
	}
	conn, ok := raw.(*upstreamConn)
	if !ok {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	refuse := o.conn != nil && o.conn.sent()
	o.conn = conn
	conn.request(refuse)
	if refuse {
		o.vetoed.Store(true)
		x.cancel()
	}
}

// reason is the error behind err.
func (o *outgoing) reason(err error) error {
	if o.vetoed.Load() {
		return errRetry
	}
	return err
}

// inform hands on a 1xx answer.
func (o *outgoing) inform(w http.ResponseWriter, code int, h textproto.MIMEHeader) error {
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
