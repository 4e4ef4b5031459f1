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

// clientConn is a connection to a client. Between gather and release it collects
// what is written, and release writes it at once. Only one goroutine may write
// meanwhile.
type clientConn struct {
	*net.TCPConn
	buffers  *bufferPool
	gathered []byte // what was gathered; nil if it does not gather
}

// gatherFrom is the size from which net/http may write a chunk in parts: half of
// its buffer, less the head and the marks of the chunk.
const gatherFrom = 2 << 10

// clientOf returns the connection of a request. It returns nil if that is no
// clientConn, or if something else may write to it: net/http writes the 100 that an
// Expect asks for when the body is read, perhaps during the answer.
func clientOf(r *http.Request) *clientConn {
	if r.ProtoMajor != 1 || r.Header["Expect"] != nil {
		return nil
	}
	c, _ := r.Context().Value(clientKey{}).(*clientConn)
	return c
}

func (c *clientConn) gather() {
	if c != nil {
		c.gathered = c.buffers.get(mediumBytes)[:0]
	}
}

// release writes what was gathered.
func (c *clientConn) release() (err error) {
	if c == nil {
		return nil
	}
	gathered := c.gathered
	c.gathered = nil
	if len(gathered) > 0 {
		_, err = c.TCPConn.Write(gathered)
	}
	c.buffers.put(gathered)
	return err
}

func (c *clientConn) Write(p []byte) (int, error) {
	switch {
	case c.gathered == nil:
		return c.TCPConn.Write(p)
	case len(c.gathered)+len(p) <= cap(c.gathered):
		c.gathered = append(c.gathered, p...)
		return len(p), nil
	}
	if len(c.gathered) > 0 {
		if _, err := c.TCPConn.Write(c.gathered); err != nil {
			return 0, err
		}
		c.gathered = c.gathered[:0]
	}
	return c.TCPConn.Write(p)
}
