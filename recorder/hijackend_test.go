package recorder_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/recorder/spool"
)

// While a write hangs, an answer ends as it would have: for the client nothing
// is missing.
func TestProxy_EndsAnswersWhileAWriteHangs(t *testing.T) {
	for name, at := range map[string]struct {
		request, answer, want string
		cut                   bool
	}{
		"chunks with trailers": {
			"GET /v1/x HTTP/1.1\r\nHost: localhost\r\n\r\n",
			"HTTP/1.1 200 OK\r\nDate: now\r\nTransfer-Encoding: chunked\r\nTrailer: X-End\r\nContent-Type: text/plain\r\n\r\n3\r\nabc\r\n0\r\nX-End: 2\r\n\r\n",
			"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/plain\r\nDate: now\r\nTrailer: X-End\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-End: 2\r\n\r\n", false},
		"known length": {
			"POST /v1/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nbody",
			"HTTP/1.1 200 OK\r\nDate: now\r\nContent-Length: 3\r\nContent-Type: text/plain\r\n\r\nabc",
			"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\nContent-Type: text/plain\r\nDate: now\r\n\r\nabc", false},
		"no content": {
			"GET /v1/x HTTP/1.1\r\nHost: localhost\r\n\r\n",
			"HTTP/1.1 204 No Content\r\nDate: now\r\n\r\n",
			"HTTP/1.1 204 No Content\r\nConnection: close\r\nDate: now\r\n\r\n", false},
		"until the connection closes, to an old client": {
			"GET /v1/x HTTP/1.0\r\nHost: localhost\r\n\r\n",
			"HTTP/1.1 200 OK\r\nDate: now\r\nTransfer-Encoding: chunked\r\nContent-Type: text/plain\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
			"HTTP/1.0 200 OK\r\nConnection: close\r\nContent-Type: text/plain\r\nDate: now\r\n\r\nabc", false},
		"cut": {
			"GET /v1/x HTTP/1.1\r\nHost: localhost\r\n\r\n",
			"HTTP/1.1 200 OK\r\nDate: now\r\nTransfer-Encoding: chunked\r\nContent-Type: text/plain\r\n\r\n3\r\nabc\r\n",
			"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/plain\r\nDate: now\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			up := rawUpstream(t, func(c net.Conn, br *bufio.Reader) {
				if _, err := readRaw(t, br, false); err == nil {
					io.WriteString(c, at.answer)
				}
			})
			d := &disk{}
			g := newSpoolRig(t, spool.Options{Create: d.create}, up)
			gate := make(chan struct{})
			defer close(gate)
			d.set(gate, nil, nil)
			c, err := net.Dial("tcp", strings.TrimPrefix(g.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			io.WriteString(c, at.request)
			got, err := io.ReadAll(c)
			if string(got) != at.want || err != nil {
				t.Errorf("%q %v", got, err)
			}
			if d.stalls.Load() == 0 {
				t.Error("no write stalled")
			}
		})
	}
}

// Over HTTP/2 the connection cannot be taken from the server, and is not needed.
func TestProxy_EndsHTTP2AnswersWhileAWriteHangs(t *testing.T) {
	d := &disk{}
	g := newSpoolRig(t, spool.Options{Create: d.create}, pieces(t, 2, nil))
	gate := make(chan struct{})
	defer close(gate)
	d.set(gate, nil, func(p []byte) bool { return bytes.Contains(p, []byte("piece 001")) })
	srv := httptest.NewUnstartedServer(g.proxy)
	srv.EnableHTTP2 = true
	srv.StartTLS()
	t.Cleanup(srv.Close)
	resp, err := srv.Client().Get(srv.URL + "/v1/x")
	if err == nil && resp.ProtoMajor != 2 {
		err = fmt.Errorf("it was %s", resp.Proto)
	}
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(resp.Body); string(b) != "piece 000\npiece 001\n" || err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("%d %q %v", resp.StatusCode, b, err)
	}
	if d.stalls.Load() == 0 {
		t.Error("no write stalled")
	}
}
