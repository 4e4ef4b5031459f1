package recorder_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/retake-debugger/retake/recorder"
)

// Pieces that net/http would write in parts go out whole, nothing is lost or
// added, and connections are kept.
func TestServe_RelaysPiecesOfAnySize(t *testing.T) {
	sizes := []int{1, 2_000, 2_047, 2_048, 4_000, 4_096, 7_000, 9_000, 33_000, 100_000, 3}
	piece := func(n int) []byte { return bytes.Repeat([]byte{'a' + byte(n%26)}, n) }
	var whole []byte
	for _, n := range sizes {
		whole = append(whole, piece(n)...)
	}
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/sized" {
			w.Header().Set("Content-Length", fmt.Sprint(len(whole)))
		} else {
			w.Header().Set("Trailer", "X-Sum")
			defer w.Header().Set("X-Sum", "done")
		}
		for _, n := range sizes {
			_, _ = w.Write(piece(n))
			_ = http.NewResponseController(w).Flush()
		}
	}))
	defer upstream.Close()
	u, err := url.Parse(upstream.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := recorder.NewProxy(recorder.Options{Upstreams: []recorder.Upstream{{URL: u}}})
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var server http.Server
	served := make(chan error, 1)
	go func() { served <- proxy.Serve(&server, l) }()
	client := &http.Client{Transport: &http.Transport{}}
	for _, path := range []string{"/sized", "/streamed", "/sized"} {
		resp, err := client.Get("http://" + l.Addr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !bytes.Equal(got, whole) {
			t.Errorf("%s: got %d bytes and %v, want the %d that were sent", path, len(got), err, len(whole))
		}
		if path == "/streamed" && resp.Trailer.Get("X-Sum") != "done" {
			t.Errorf("trailers are %v", resp.Trailer)
		}
	}
	client.CloseIdleConnections()
	server.Close()
	if err := <-served; err != http.ErrServerClosed {
		t.Errorf("served until %v", err)
	}
}
