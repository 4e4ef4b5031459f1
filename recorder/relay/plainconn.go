package relay

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// plainPool keeps connections to upstreams that are called over plain HTTP/1.1:
// model servers on this machine or near it. The exchange's own goroutine writes the
// request and reads the answer, with net/http's writer and parser. http.Transport
// has two more goroutines for each connection, and handing over to them costs as
// much as the rest of a relay. It serves TLS, proxies and everything else.
//
// A request is sent once. A kept connection that the upstream has closed is noticed
// before anything is written to it.
type plainPool struct {
	dialer *dialer
	now    func() time.Time

	writers sync.Pool // of *bufio.Writer

	mu       sync.Mutex
	idle     map[string][]*plainConn // by host
	sweeping bool
	closed   bool
}

const (
	plainIdle  = 60 * time.Second // how long a connection is kept
	plainHead  = 10 << 20         // largest head of an answer
	plainRead  = 16 << 10         // the largest chunk of an answer
	plainWrite = 8 << 10
)

func newPlainPool(d *dialer, now func() time.Time) *plainPool {
	return &plainPool{dialer: d, now: now, idle: map[string][]*plainConn{}}
}

// plainConn is a connection that carries one exchange at a time.
type plainConn struct {
	*upstreamConn
	host  string
	limit headLimit
	in    *bufio.Reader
	pool  *plainPool
	sent  atomic.Bool // the whole request was written
	cut   atomic.Bool
	since time.Time
}

// headLimit bounds what may be read. It keeps an error until the data before it was
// read.
type headLimit struct {
	io.Reader
	left int64
	err  error
}

var errHead = errors.New("the head of the answer is too large")

func (l *headLimit) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errHead
	}
	if l.err != nil {
		return 0, l.err
	}
	n, err := l.Reader.Read(p)
	l.left -= int64(n)
	l.err = err
	return n, err
}

// dial opens a connection.
func (p *plainPool) dial(ctx context.Context, host string) (*plainConn, error) {
	addr := host
	if _, _, err := net.SplitHostPort(host); err != nil {
		addr = net.JoinHostPort((&url.URL{Host: host}).Hostname(), "80")
	}
	conn, err := p.dialer.dial(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	c := &plainConn{upstreamConn: conn.(*upstreamConn), host: host, pool: p}
	c.limit.Reader = c.upstreamConn
	c.in = bufio.NewReaderSize(&c.limit, plainRead)
	return c, nil
}

// idleConn returns a kept connection that the upstream has not closed, nil if there
// is none.
func (p *plainPool) idleConn(host string) *plainConn {
	for c := p.last(host); c != nil; c = p.last(host) {
		if alive(c.Conn) {
			return c
		}
		c.Close()
	}
	return nil
}

func (p *plainPool) last(host string) *plainConn {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.idle[host]
	if len(list) == 0 {
		return nil
	}
	c := list[len(list)-1]
	p.idle[host] = list[:len(list)-1]
	return c
}

// put keeps a connection whose exchange is over, if it can carry another.
func (p *plainPool) put(c *plainConn, resp *http.Response) {
	if resp.Close || !c.sent.Load() || c.cut.Load() || c.in.Buffered() > 0 {
		c.Close()
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		c.Close()
		return
	}
	c.since = p.now()
	p.idle[c.host] = append(p.idle[c.host], c)
	if !p.sweeping {
		p.sweeping = true
		time.AfterFunc(plainIdle/2, p.sweep)
	}
}

// sweep closes connections that were idle for long.
func (p *plainPool) sweep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for host, list := range p.idle {
		kept := list[:0]
		for _, c := range list {
			if p.now().Sub(c.since) > plainIdle {
				c.Close()
			} else {
				kept = append(kept, c)
			}
		}
		clear(list[len(kept):])
		if p.idle[host] = kept; len(kept) == 0 {
			delete(p.idle, host)
		}
	}
	if p.sweeping = len(p.idle) > 0; p.sweeping {
		time.AfterFunc(plainIdle/2, p.sweep)
	}
}

// close closes the idle connections. Those in use are closed when they are put
// back.
func (p *plainPool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, list := range p.idle {
		for _, c := range list {
			c.Close()
		}
	}
	clear(p.idle)
}

// begin says that a new request begins.
func (c *plainConn) begin() {
	c.request(false)
	c.sent.Store(false)
}

// interrupt makes reads and writes fail.
func (c *plainConn) interrupt() {
	c.cut.Store(true)
	_ = c.SetDeadline(time.Unix(1, 0))
}

// write writes the request.
func (c *plainConn) write(r *http.Request) error {
	out, ok := c.pool.writers.Get().(*bufio.Writer)
	if !ok {
		out = bufio.NewWriterSize(nil, plainWrite)
	}
	out.Reset(c.upstreamConn)
	err := r.Write(out)
	if err == nil {
		err = out.Flush()
	}
	out.Reset(nil)
	c.pool.writers.Put(out)
	c.sent.Store(err == nil)
	return err
}

// read reads the head of the answer and passes 1xx answers before it to inform.
func (c *plainConn) read(r *http.Request, inform func(code int, h textproto.MIMEHeader) error) (*http.Response, error) {
	for {
		c.limit.left = plainHead
		resp, err := http.ReadResponse(c.in, r)
		if err != nil {
			return nil, err
		}
		switch {
		case resp.StatusCode == http.StatusSwitchingProtocols:
			return nil, errors.New("the upstream switched protocols unasked")
		case resp.StatusCode >= 200:
			c.limit.left = math.MaxInt64
			return resp, nil
		}
		if err := inform(resp.StatusCode, textproto.MIMEHeader(resp.Header)); err != nil {
			return nil, err
		}
	}
}

// arrived waits until more of the answer's body has arrived, and returns how many
// bytes there are. Call it only while more must come.
func (c *plainConn) arrived() int64 {
	if c.in.Buffered() == 0 {
		_, _ = c.in.Peek(1) // an error is returned again when the body is read
	}
	return int64(c.in.Buffered())
}
