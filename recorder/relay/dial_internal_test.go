package relay

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// deadConn is a connection that the other side has closed without anybody having
// noticed: nothing can be written to it.
type deadConn struct {
	net.Conn
	dead *atomic.Bool
}

func (c deadConn) Write(p []byte) (int, error) {
	if c.dead.Load() {
		return 0, syscall.EPIPE
	}
	return c.Conn.Write(p)
}

// A kept connection that is dead costs no request: nothing of it went out, so it
// goes out on another one.
func TestWireTransport_SendsAgainWhatADeadConnectionDidNotTake(t *testing.T) {
	got := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- string(body)
	}))
	defer server.Close()
	own := NewWireTransport(Config{})
	defer own.CloseIdleConnections()
	var first atomic.Bool
	dial, dials := own.DialContext, 0
	own.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		if err == nil {
			if dials++; dials == 1 {
				up := c.(*upstreamConn)
				up.Conn = deadConn{up.Conn, &first}
			}
		}
		return c, err
	}
	for _, text := range []string{"one", "two"} {
		resp, err := (&http.Client{Transport: own, Timeout: 10 * time.Second}).Post(server.URL, "text/plain", strings.NewReader(text))
		if err != nil {
			t.Fatalf("send %s: %v", text, err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if got := <-got; got != text {
			t.Errorf("the upstream got %q, want %q", got, text)
		}
		first.Store(true)
	}
	if dials != 2 {
		t.Errorf("%d connections, want the dead one and another", dials)
	}
}
