package recorder_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/recorder/spool"
	"github.com/retake-debugger/retake/transcript"
)

// spoolOf opens a spool and returns a rig around it, without a proxy.
func spoolOf(t testing.TB, so spool.Options) *rig {
	t.Helper()
	if so.Create == nil {
		so.Stall = time.Minute
	}
	g := &rig{t: t, dir: t.TempDir()}
	var err error
	if g.spool, err = spool.Open(g.dir, so); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.spool.Close() })
	return g
}

func TestTransport_Records(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Encoding", "gzip") // must not be unpacked
		w.Header().Set("Trailer", "X-Sum")
		w.WriteHeader(203)
		for _, c := range b {
			w.Write([]byte{c})
			w.(http.Flusher).Flush()
		}
		w.Header().Set("X-Sum", "7")
	}))
	defer up.Close()
	g := spoolOf(t, spool.Options{})
	client := &http.Client{Transport: recorder.NewTransport(nil, recorder.Options{Spool: g.spool, Label: "all"})}
	ctx := recorder.WithLabel(recorder.WithID(context.Background(), "id-1"), "one")
	r, _ := http.NewRequestWithContext(ctx, "POST", up.URL+"/v1/x?key=s3cr3t", strings.NewReader("hello"))
	r.Header.Set("Authorization", "Bearer s3cr3t")
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || string(got) != "hello" {
		t.Fatal(string(got), err)
	}
	rec := g.next()
	if rec.ID != "id-1" || rec.Label != "one" || rec.Outcome != transcript.OK || rec.Status != 203 || rec.Lossy || rec.Method != "POST" ||
		body(t, rec.Request) != "hello" || body(t, rec.Response) != "hello" || len(rec.Chunks) == 0 || rec.ResponseHeader["Trailer:X-Sum"][0] != "7" {
		t.Errorf("%+v", rec.Capture)
	}
	grepSpool(t, g.dir, "s3cr3t")
	rec.Release()

	for name, end := range map[string]transcript.Outcome{"close": transcript.ClientDisconnect, "cancel": transcript.ClientDisconnect} {
		ctx, cancel := context.WithCancel(context.Background())
		r, _ := http.NewRequestWithContext(ctx, "POST", up.URL, strings.NewReader(strings.Repeat("x", 100000)))
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		io.ReadFull(resp.Body, make([]byte, 3))
		if name == "cancel" {
			cancel()
			_, _ = io.ReadAll(resp.Body)
		}
		resp.Body.Close()
		cancel()
		if rec := g.next(); rec.Outcome != end || rec.Response.Size() < 3 {
			t.Errorf("%s: %v %d", name, rec.Outcome, rec.Response.Size())
		}
	}
	up.Close()
	if _, err := client.Get(up.URL); err == nil {
		t.Fatal("no error")
	}
	if rec := g.next(); rec.Outcome != transcript.UpstreamReset || rec.Error.Code != "connection_refused" {
		t.Errorf("%v %+v", rec.Outcome, rec.Error)
	}
}

func TestTransport_WithoutSpoolIsTransparent(t *testing.T) {
	up, _ := okUpstream(t)
	client := &http.Client{Transport: recorder.NewTransport(http.DefaultTransport, recorder.Options{})}
	resp, err := client.Get(up + "/a")
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := io.ReadAll(resp.Body); string(b) != "GET /a" {
		t.Error(string(b))
	}
}

func TestTransport_GoesOnWhenAWriteStalls(t *testing.T) {
	up := pieces(t, 3, nil)
	d := &disk{}
	g := spoolOf(t, spool.Options{Create: d.create})
	gate := make(chan struct{})
	d.set(gate, nil, func(p []byte) bool { return bytes.Contains(p, []byte("piece")) })
	client := &http.Client{Transport: recorder.NewTransport(nil, recorder.Options{Spool: g.spool})}
	resp, err := client.Post(up, "", strings.NewReader("abc"))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(resp.Body); err != nil || string(b) != "piece 000\npiece 001\npiece 002\n" {
		t.Error(string(b), err)
	}
	resp.Body.Close()
	if r := g.next(); !r.Lossy || r.Outcome != transcript.OK || body(t, r.Request) != "abc" {
		t.Error(r.Lossy, r.Outcome)
	}
	close(gate)
}

func TestMiddleware_Records(t *testing.T) {
	g := spoolOf(t, spool.Options{})
	plain := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Answer", "1")
		w.WriteHeader(201)
		w.Write(b)
		w.(http.Flusher).Flush()
		io.WriteString(w, "!")
	})
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.POST("/v1/x", func(c *gin.Context) {
		b, _ := io.ReadAll(c.Request.Body)
		c.Header("X-Answer", "1")
		c.Status(201)
		rest := [][]byte{b, []byte("!")}
		c.Stream(func(w io.Writer) bool {
			w.Write(rest[0])
			rest = rest[1:]
			return len(rest) > 0
		})
	})
	for name, h := range map[string]http.Handler{"net/http": plain, "gin": engine} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(recorder.Middleware(h, recorder.Options{Spool: g.spool}))
			defer srv.Close()
			resp, err := http.Post(srv.URL+"/v1/x?token=s3cr3t", "", strings.NewReader("hello"))
			if err != nil {
				t.Fatal(err)
			}
			if b, _ := io.ReadAll(resp.Body); string(b) != "hello!" || resp.StatusCode != 201 {
				t.Error(string(b), resp.Status)
			}
			r := g.next()
			if r.Outcome != transcript.OK || r.Status != 201 || body(t, r.Request) != "hello" || body(t, r.Response) != "hello!" ||
				len(r.Chunks) != 2 || r.ResponseHeader["X-Answer"][0] != "1" || !strings.HasPrefix(r.URL, srv.URL+"/v1/x?token=[redacted]") {
				t.Errorf("%+v", r.Capture)
			}
		})
	}
}

func TestMiddleware_NoticesPanicsAndAborts(t *testing.T) {
	g := spoolOf(t, spool.Options{})
	h := recorder.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "start")
		w.(http.Flusher).Flush()
		if r.URL.Path == "/panic" {
			panic(http.ErrAbortHandler)
		}
		<-r.Context().Done()
	}), recorder.Options{Spool: g.spool})
	srv := httptest.NewServer(h)
	defer srv.Close()
	for path, want := range map[string]transcript.Outcome{"/panic": transcript.UpstreamReset, "/hang": transcript.ClientDisconnect} {
		resp, err := http.Get(srv.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		io.ReadFull(resp.Body, make([]byte, 5))
		resp.Body.Close()
		if r := g.next(); r.Outcome != want || body(t, r.Response) != "start" {
			t.Errorf("%s: %v", path, r.Outcome)
		}
	}
}

// webSocketUpstream takes an upgrade and echoes lines.
func webSocketUpstream(t testing.TB) string {
	return rawUpstream(t, func(c net.Conn, br *bufio.Reader) {
		m, err := readRaw(t, br, false)
		if err != nil {
			return
		}
		if !strings.Contains(strings.Join(m.Header, "|"), "Upgrade: ") {
			io.WriteString(c, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
			return
		}
		io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\n\r\nhello\n")
		for {
			line, err := br.ReadString('\n')
			if err != nil || line == "bye\n" {
				return
			}
			io.WriteString(c, "echo "+line)
		}
	})
}

const upgradeHead = " HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\nSec-WebSocket-Version: 13\r\n\r\n"

func TestProxy_RefusesWebSocketsToModels(t *testing.T) {
	g := newRig(t, webSocketUpstream(t))
	for _, path := range []string{"/v1/responses", "/v1/realtime?model=x", "/backend-api/codex/responses"} {
		status, answer := rawStatus(t, g.url, "GET "+path+upgradeHead)
		if status != 426 || !strings.Contains(answer, `"error"`) {
			t.Errorf("%s: %d %s", path, status, answer)
		}
	}
}

func TestProxy_RelaysUpgrades(t *testing.T) {
	up := webSocketUpstream(t)
	for path, relay := range map[string]bool{"/other": false, "/v1/responses": true} {
		for _, hangUp := range []bool{true, false} {
			g := newRig(t, up, func(o *recorder.Options) { o.WebSockets = relay })
			conn, br := dial(t, g.url)
			io.WriteString(conn, "GET "+path+upgradeHead+"early\n")
			m, err := readRaw(t, br, true)
			if err != nil || m.Line != "HTTP/1.1 101 Switching Protocols" || fmt.Sprint(m.Header) != "[Sec-Websocket-Accept: x Upgrade: websocket]" {
				t.Fatal(m, err)
			}
			expect := func(want string) {
				t.Helper()
				if line, err := br.ReadString('\n'); line != want {
					t.Fatalf("%q, want %q (%v)", line, want, err)
				}
			}
			expect("hello\n")
			expect("echo early\n")
			io.WriteString(conn, "more\n")
			expect("echo more\n")
			wantRequest := "early\nmore\n"
			if hangUp {
				conn.Close()
			} else {
				io.WriteString(conn, "bye\n")
				wantRequest += "bye\n"
				if _, err := br.ReadByte(); !errors.Is(err, io.EOF) {
					t.Error(err)
				}
			}
			r := g.next()
			if r.Status != 101 || r.Outcome != transcript.OK || r.RequestHeader["Upgrade"][0] != "websocket" ||
				body(t, r.Request) != wantRequest || body(t, r.Response) != "hello\necho early\necho more\n" {
				t.Errorf("%d %v %q %q", r.Status, r.Outcome, body(t, r.Request), body(t, r.Response))
			}
		}
	}
}

func TestProxy_CloseCutsTunnels(t *testing.T) {
	g := newRig(t, webSocketUpstream(t))
	conn, br := dial(t, g.url)
	io.WriteString(conn, "GET /x"+upgradeHead)
	if m, err := readRaw(t, br, true); err != nil || !strings.Contains(m.Line, "101") {
		t.Fatal(m, err)
	}
	if line, _ := br.ReadString('\n'); line != "hello\n" {
		t.Fatal(line)
	}
	g.proxy.Close()
	_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	if _, err := br.ReadByte(); !errors.Is(err, io.EOF) && !strings.Contains(fmt.Sprint(err), "reset") {
		t.Error(err)
	}
	if r := g.next(); r.Outcome != transcript.RecorderStopped {
		t.Error(r.Outcome)
	}
}
