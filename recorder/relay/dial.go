package relay

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"
)

// newUpstreamTransport returns the transport to upstreams. It changes and adds
// nothing: no compression, no time limit once connected.
func newUpstreamTransport(c Config, d *dialer) *http.Transport {
	return &http.Transport{
		Proxy:                 c.Proxy,
		DialContext:           d.dial,
		TLSClientConfig:       &tls.Config{RootCAs: c.RootCAs},
		TLSHandshakeTimeout:   15 * time.Second,
		DisableCompression:    true,
		MaxIdleConnsPerHost:   1024,
		IdleConnTimeout:       90 * time.Second,
		ExpectContinueTimeout: time.Second,
		ForceAttemptHTTP2:     true,
		// Pings detect a dead HTTP/2 connection, which many agents may share.
		HTTP2:           &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
		WriteBufferSize: 8 << 10,
		ReadBufferSize:  16 << 10,
	}
}

// WireTransport is an http.Transport that leaves bodies as they are on the wire. It
// notes on a kept connection that another request begins. So a dead connection
// fails before any of the request counts as sent, and http.Transport sends it on
// another one, as for any client.
type WireTransport struct{ *http.Transport }

// NewWireTransport returns a WireTransport.
func NewWireTransport(c Config) WireTransport {
	return WireTransport{newUpstreamTransport(c, newDialer(c.Listen, &bufferPool{}))}
}

func (t WireTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	return t.Transport.RoundTrip(r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			if conn := upstreamOf(info.Conn); conn != nil {
				conn.request(false)
			}
		},
	})))
}

var errSelf = errors.New("the upstream is the recorder itself")

type dialer struct {
	net.Dialer
	listen  string
	buffers *bufferPool
}

func newDialer(listen string, buffers *bufferPool) *dialer {
	return &dialer{Dialer: net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}, listen: listen, buffers: buffers}
}

// dial connects to an upstream. It refuses the address that the request came in on.
func (d *dialer) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	remote := c.RemoteAddr().String()
	own, _ := ctx.Value(http.LocalAddrContextKey).(net.Addr)
	if remote == d.listen || (own != nil && remote == own.String()) {
		c.Close()
		return nil, errSelf
	}
	return &upstreamConn{Conn: c, buffers: d.buffers}, nil
}

// upstreamConn is a connection to an upstream. When a write fails after part of a
// request was sent, it reports success: an upstream that answers 413 and closes has
// sent its answer, which the transport would throw away after an error. If there is
// no answer, reading fails.
type upstreamConn struct {
	net.Conn
	buffers *bufferPool
	mu      sync.Mutex
	written int64 // of the current request
	refused bool  // the request must not be sent here
	failure error // of a write
}

// upstreamOf returns the connection that the transport uses, nil for one that
// several requests share.
func upstreamOf(c net.Conn) *upstreamConn {
	if t, ok := c.(*tls.Conn); ok {
		if t.ConnectionState().NegotiatedProtocol == "h2" {
			return nil
		}
		c = t.NetConn()
	}
	conn, _ := c.(*upstreamConn)
	return conn
}

var errRetry = errors.New("the upstream closed the connection before it answered")

// request says that a new request begins. With refuse its first write fails.
func (c *upstreamConn) request(refuse bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written, c.refused = 0, refuse
}

// sent reports whether any of the current request was sent.
func (c *upstreamConn) sent() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.written > 0
}

func (c *upstreamConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	failure, refused, written := c.failure, c.refused, c.written
	c.mu.Unlock()
	if refused {
		return 0, errRetry
	}
	n := 0
	if failure == nil {
		n, failure = c.Conn.Write(p)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written += int64(n)
	c.failure = failure
	if failure != nil && written+int64(n) > 0 {
		return len(p), nil
	}
	return n, failure
}

func (c *upstreamConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err == io.EOF {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.failure != nil {
			err = c.failure
		}
	}
	return n, err
}

// ReadFrom reads the rest of a request body from the transport: one that lies in
// memory at once, others through a pooled buffer.
func (c *upstreamConn) ReadFrom(r io.Reader) (int64, error) {
	if l, ok := r.(*io.LimitedReader); ok {
		if m, ok := l.R.(*bytes.Reader); ok && l.N >= int64(m.Len()) {
			n, err := m.WriteTo(writer{c})
			l.N -= n
			return n, err
		}
	}
	buf := c.buffers.get(mediumBytes)
	defer c.buffers.put(buf)
	return io.CopyBuffer(writer{c}, r, buf)
}

// writer hides ReadFrom.
type writer struct{ io.Writer }
