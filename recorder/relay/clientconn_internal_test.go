package relay

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"testing"
)

// connected returns the two ends of a connection.
func connected(t *testing.T) (*clientConn, net.Conn) {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &clientListener{Listener: inner, buffers: &bufferPool{}}
	defer l.Close()
	other, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.(*clientConn), other
}

func TestClientConn_GathersUntilReleased(t *testing.T) {
	c, other := connected(t)
	c.gather()
	for _, part := range []string{"5\r\n", "hello", "\r\n"} {
		if n, err := c.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatalf("write %q gave %d, %v", part, n, err)
		}
	}
	if got := string(c.gathered); got != "5\r\nhello\r\n" {
		t.Errorf("holds %q", got)
	}
	if err := c.release(); err != nil {
		t.Fatal(err)
	}
	if c.gathered != nil {
		t.Error("gathers after it was released")
	}
	if _, err := c.Write([]byte("0\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	c.Close()
	got, err := io.ReadAll(other)
	if err != nil || string(got) != "5\r\nhello\r\n0\r\n\r\n" {
		t.Errorf("the client got %q, %v", got, err)
	}
}

func TestClientConn_KeepsTheOrder(t *testing.T) {
	c, other := connected(t)
	random := rand.New(rand.NewPCG(1, 2))
	var want []byte
	failed := make(chan error, 1)
	parts := make([][]byte, 300)
	for i := range parts {
		parts[i] = bytes.Repeat([]byte{byte(i)}, random.IntN([]int{10, 5_000, 2 * mediumBytes}[i%3]))
		want = append(want, parts[i]...)
	}
	go func() {
		defer c.Close()
		for i, part := range parts {
			if i%4 == 0 {
				c.gather()
			}
			if _, err := c.Write(part); err != nil {
				failed <- err
				return
			}
			if i%4 == 2 {
				if err := c.release(); err != nil {
					failed <- err
					return
				}
			}
		}
		failed <- nil
	}()
	got, err := io.ReadAll(other)
	if err != nil {
		t.Fatal(err)
	}
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the client got %d bytes, not the %d that were written", len(got), len(want))
	}
}

func TestClientConn_ReportsThatTheClientIsGone(t *testing.T) {
	c, other := connected(t)
	other.Close()
	c.Close()
	c.gather()
	if _, err := c.Write([]byte("x")); err != nil {
		t.Errorf("writing to gathered bytes fails: %v", err)
	}
	if c.release() == nil {
		t.Error("release returns no error although the connection is closed")
	}
}
