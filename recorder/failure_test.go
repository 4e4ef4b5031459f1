package recorder_test

import (
	"bufio"
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/transcript"
)

func TestProxy_AnswersForDeadUpstreams(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	hangUp := rawUpstream(t, func(c net.Conn, br *bufio.Reader) { _, _ = readRaw(t, br, false) })
	garbage := rawUpstream(t, func(c net.Conn, br *bufio.Reader) {
		_, _ = readRaw(t, br, false)
		io.WriteString(c, "SSH-2.0-x\r\n\r\n")
	})
	reset := rawUpstream(t, func(c net.Conn, br *bufio.Reader) {
		_, _ = readRaw(t, br, false)
		_ = c.(*net.TCPConn).SetLinger(0)
	})
	plain := rawUpstream(t, func(c net.Conn, br *bufio.Reader) {
		_, _ = br.Peek(1)
		io.WriteString(c, "HTTP/1.0 400 Bad Request\r\n\r\n")
	})
	untrusted, _ := tlsServer(t, false, http.NotFoundHandler())
	for _, c := range []struct{ name, upstream, code string }{
		{"refused", "http://" + closed.Addr().String(), "connection_refused"},
		{"unknown name", "http://no-such-host.invalid", "dns_failure"},
		{"untrusted", untrusted, "tls_failure"},
		{"not TLS", strings.Replace(plain, "http:", "https:", 1), "tls_failure"},
		{"hangs up", hangUp, "connection_reset"},
		{"resets", reset, "connection_reset"},
		{"garbage", garbage, "failure"},
	} {
		for _, size := range []int{0, 1000, 1 << 20} {
			t.Run(fmt.Sprint(c.name, size), func(t *testing.T) {
				g := newRig(t, c.upstream, func(o *recorder.Options) { o.RootCAs = x509.NewCertPool() })
				resp, err := http.Post(g.url+"/v1/messages?key=s3cr3t", "text/plain", strings.NewReader(strings.Repeat("x", size)))
				if err != nil {
					t.Fatal(err)
				}
				b, err := io.ReadAll(resp.Body)
				var said struct {
					Error struct{ Type, Code, Message string }
				}
				if err != nil || json.Unmarshal(b, &said) != nil || resp.StatusCode != 502 || said.Error.Type != "upstream_error" || said.Error.Message == "" {
					t.Fatal(resp.Status, string(b), err)
				}
				if c.code != "" && said.Error.Code != c.code {
					t.Errorf("said %s", b)
				}
				if strings.Contains(string(b), "s3cr3t") {
					t.Errorf("said %s", b)
				}
				r := g.next()
				if r.Outcome != transcript.UpstreamReset || r.Error == nil || r.Error.Code != said.Error.Code || r.Status != 502 || body(t, r.Response) != string(b) {
					t.Errorf("%v %+v %d", r.Outcome, r.Error, r.Status)
				}
			})
		}
	}
}

// A stream that breaks off must not look as if it had ended.
func TestProxy_PassesBreaksOn(t *testing.T) {
	for _, c := range []string{
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nstart\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nstart",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nstart\r\nff\r\npart",
	} {
		up := rawUpstream(t, func(conn net.Conn, br *bufio.Reader) {
			_, _ = readRaw(t, br, false)
			io.WriteString(conn, c)
		})
		g := newRig(t, up)
		resp, err := http.Get(g.url + "/v1/x")
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		if err == nil || !strings.HasPrefix(string(b), "start") {
			t.Errorf("%q: client got %q, %v", c, b, err)
		}
		r := g.next()
		if r.Outcome != transcript.UpstreamReset || r.Error == nil || body(t, r.Response) != string(b) || r.Status != 200 {
			t.Errorf("%q: recorded %v %+v", c, r.Outcome, r.Error)
		}
	}
}

// Why an answer broke off is known though its next piece was being waited for.
func TestProxy_KnowsWhyAnAnswerBrokeOff(t *testing.T) {
	read := make(chan bool)
	up := rawUpstream(t, func(conn net.Conn, br *bufio.Reader) {
		_, _ = readRaw(t, br, false)
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nstart\r\n")
		<-read
		_ = conn.(*net.TCPConn).SetLinger(0)
	})
	g := newRig(t, up)
	resp, err := http.Get(g.url + "/v1/x")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadFull(resp.Body, make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond) // the recorder waits
	close(read)
	if r := g.next(); r.Outcome != transcript.UpstreamReset || r.Error == nil || !strings.Contains(r.Error.Message, "reset by peer") {
		t.Errorf("recorded %v %+v", r.Outcome, r.Error)
	}
}

// An idle connection that the upstream has closed costs nothing; a request that
// was sent is never sent again.
func TestProxy_SendsOnce(t *testing.T) {
	var requests atomic.Int32
	up := rawUpstream(t, func(c net.Conn, br *bufio.Reader) {
		for {
			if _, err := readRaw(t, br, false); err != nil {
				return
			}
			if requests.Add(1) == 2 {
				return // the second gets no answer, on whatever connection it comes
			}
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	})
	for _, request := range []string{
		"GET /v1/x HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"POST /v1/x HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: k\r\nContent-Length: 2\r\n\r\nhi",
		"POST /v1/x HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: k\r\nContent-Length: 0\r\n\r\n",
		"POST /v1/x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
	} {
		g := newRig(t, up)
		requests.Store(0)
		conn, br := dial(t, g.url)
		for i, want := range []string{"HTTP/1.1 200 OK", "HTTP/1.1 502 Bad Gateway"} {
			io.WriteString(conn, request)
			if m, err := readRaw(t, br, false); err != nil || m.Line != want {
				t.Errorf("%q %d: %v %v", request, i, m, err)
			}
		}
		if n := requests.Load(); n != 2 {
			t.Errorf("%q: the upstream saw %d requests", request, n)
		}
	}
}

func TestProxy_KeepsWhatTheClientGotWhenItHangsUp(t *testing.T) {
	sse, err := os.ReadFile("testdata/hangup.sse")
	if err != nil {
		t.Fatal(err)
	}
	events := strings.SplitAfter(string(sse), "\n\n")
	cancelled := make(chan time.Time, 1)
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events {
			io.WriteString(w, e)
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
				cancelled <- time.Now()
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
		cancelled <- time.Time{}
	}))
	defer up.Close()
	g := newRig(t, up.URL)
	conn, br := dial(t, g.url)
	io.WriteString(conn, "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}")
	for line := ""; !strings.Contains(line, "part3 "); {
		if line, err = br.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	conn.Close()
	hungUp := time.Now()
	r := g.next()
	got := body(t, r.Response)
	if r.Outcome != transcript.ClientDisconnect || r.Status != 200 || !strings.HasPrefix(string(sse), got) ||
		!strings.Contains(got, "part3 ") || strings.Contains(got, "part8") {
		t.Errorf("%v %d %q", r.Outcome, r.Status, got)
	}
	at := <-cancelled
	if at.IsZero() || at.Sub(hungUp) > 2*time.Second || time.Since(hungUp) > 2*time.Second {
		t.Errorf("the upstream was cancelled at %v, the client hung up at %v", at, hungUp)
	}
}

func TestProxy_NoticesAnAbortBeforeTheAnswer(t *testing.T) {
	arrived, cancelled := make(chan bool, 1), make(chan bool, 1)
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		arrived <- true
		<-r.Context().Done()
		cancelled <- true
	}))
	defer up.Close()
	for _, request := range []string{
		"GET /v1/x HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"POST /v1/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}",
		"POST /v1/x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
	} {
		g := newRig(t, up.URL)
		conn, _ := dial(t, g.url)
		io.WriteString(conn, request)
		<-arrived
		conn.Close()
		if r := g.next(); r.Outcome != transcript.ClientDisconnect || r.Status != 0 {
			t.Errorf("%q: %v %d", request, r.Outcome, r.Status)
		}
		<-cancelled
	}
}

// A client that breaks off its own request.
func TestProxy_NoticesACutRequest(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
	}))
	defer up.Close()
	for _, request := range []string{
		"POST /v1/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\npart",
		"POST /v1/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20000000\r\n\r\npart",
		"POST /v1/x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n",
	} {
		for _, wait := range []time.Duration{0, 60 * time.Millisecond} {
			g := newRig(t, up.URL)
			conn, _ := dial(t, g.url)
			io.WriteString(conn, request)
			time.Sleep(wait)
			conn.Close()
			if r := g.next(); r.Outcome != transcript.ClientDisconnect || body(t, r.Request) != "part" {
				t.Errorf("%q after %v: %v %q %v", request, wait, r.Outcome, body(t, r.Request), r.Error)
			}
		}
	}
}

func TestProxy_LeaksNothingAfterAborts(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).EnableFullDuplex()
		io.WriteString(w, "first")
		w.(http.Flusher).Flush()
		io.Copy(io.Discard, r.Body) // a server notices a hang-up only while it reads
		<-r.Context().Done()
	}))
	defer up.Close()
	g := newRig(t, up.URL)
	abort := func(i int) {
		conn, br := dial(t, g.url)
		switch i % 3 {
		case 0:
			io.WriteString(conn, "GET /v1/x HTTP/1.1\r\nHost: localhost\r\n\r\n")
		case 1:
			io.WriteString(conn, "POST /v1/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000000\r\n\r\nstart")
		case 2:
			io.WriteString(conn, "POST /v1/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000\r\n\r\nstart")
		}
		if i%2 == 0 {
			if line, err := br.ReadString('\n'); err != nil || !strings.Contains(line, "200") {
				t.Fatal(i, line, err)
			}
		}
		conn.Close()
		g.next().Release()
	}
	abort(0)
	before := runtime.NumGoroutine()
	for i := range 200 {
		abort(i)
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		s := g.spool.Stats()
		if n := runtime.NumGoroutine(); n <= before+10 && s.InFlight == 0 {
			return
		}
		if time.Now().After(end) {
			buf := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before; %+v\n%s", runtime.NumGoroutine(), before, s, buf[:runtime.Stack(buf, true)])
		}
	}
}

func TestProxy_CloseCutsWhatIsInFlight(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "first")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer up.Close()
	g := newRig(t, up.URL)
	resp, err := http.Get(g.url + "/v1/x")
	if err != nil {
		t.Fatal(err)
	}
	g.proxy.Close()
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("the client saw a clean end")
	}
	if r := g.next(); r.Outcome != transcript.RecorderStopped || body(t, r.Response) != "first" {
		t.Error(r.Outcome)
	}
}

// A fast upstream and small bodies: a relay that lets the server close request
// bodies early loses one answer in some hundred here.
func TestProxy_LosesNoAnswerOfAFastUpstream(t *testing.T) {
	if testing.Short() {
		t.Skip("thousands of requests")
	}
	up := rawUpstream(t, func(c net.Conn, br *bufio.Reader) {
		for {
			m, err := readRaw(t, br, false)
			if err != nil {
				return
			}
			fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(m.Body), m.Body)
		}
	})
	g := newRig(t, up)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var wrong atomic.Int32
	go func() {
		for {
			r, err := g.spool.Next(ctx)
			if err != nil {
				return
			}
			if r.Outcome != transcript.OK || r.Request.Size() != r.Response.Size() {
				wrong.Add(1)
			}
			r.Release()
		}
	}()
	const workers, each = 16, 300
	done := make(chan error, workers)
	for range workers {
		go func() {
			c := &http.Client{Transport: &http.Transport{}}
			for i := range each {
				b := strings.Repeat("b", 1000+i*20)
				resp, err := c.Post(g.url+"/v1/x", "", strings.NewReader(b))
				if err != nil {
					done <- err
					return
				}
				got, err := io.ReadAll(resp.Body)
				if err != nil || string(got) != b {
					done <- fmt.Errorf("%d bytes of %d: %v", len(got), len(b), err)
					return
				}
			}
			done <- nil
		}()
	}
	for range workers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if n := wrong.Load(); n > 0 {
		t.Errorf("%d records are wrong", n)
	}
	s := g.spool.Stats()
	for ; s.InFlight > 0; s = g.spool.Stats() { // a client has its answer a little before it counts
		time.Sleep(time.Millisecond)
	}
	if s.Recorded != workers*each || s.Lossy != 0 || s.Lost != 0 {
		t.Errorf("%+v", s)
	}
}
