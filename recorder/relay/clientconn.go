package relay

import (
	"net"
	"net/http"
)

// clientKey is the key of a request's clientConn in its context.
type clientKey struct{}

type clientListener struct {
	net.Listener
	buffers *bufferPool
}

func (l *clientListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if tcp, ok := c.(*net.TCPConn); ok {
		return &clientConn{TCPConn: tcp, buffers: l.buffers}, nil
	}
	return c, err
}

// clientConn is a connection to a client. What is written between gather and
// release goes out at once. Both belong to whoever may write to the connection.
type clientConn struct {
	*net.TCPConn
	buffers *bufferPool
	held    []byte // nil unless it gathers
}

// gatherFrom is the size from which on a piece may be written in parts: half of
// the buffer that net/http puts it in, with head and chunk marks around it.
const gatherFrom = 2 << 10

// clientOf gives the connection that a request came in on, nil unless it is a
// clientConn which nobody else uses meanwhile: net/http writes the 100 that an
// Expect asks for as the body is read, which may be beside an answer.
func clientOf(r *http.Request) *clientConn {
	if r.ProtoMajor != 1 || r.Header["Expect"] != nil {
		return nil
	}
	c, _ := r.Context().Value(clientKey{}).(*clientConn)
	return c
}

func (c *clientConn) gather() {
	if c != nil {
		c.held = c.buffers.get(mediumBytes)[:0]
	}
}

// release writes what was gathered.
func (c *clientConn) release() (err error) {
	if c == nil {
		return nil
	}
	held := c.held
	c.held = nil
	if len(held) > 0 {
		_, err = c.TCPConn.Write(held)
	}
	c.buffers.put(held)
	return err
}

func (c *clientConn) Write(p []byte) (int, error) {
	switch {
	case c.held == nil:
		return c.TCPConn.Write(p)
	case len(c.held)+len(p) <= cap(c.held):
		c.held = append(c.held, p...)
		return len(p), nil
	}
	if len(c.held) > 0 {
		if _, err := c.TCPConn.Write(c.held); err != nil {
			return 0, err
		}
		c.held = c.held[:0]
	}
	return c.TCPConn.Write(p)
}
