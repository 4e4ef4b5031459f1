package recorder_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/transcript"
)

func TestProxy_ChangesNothing(t *testing.T) {
	big := strings.Repeat("x\x00\xff\r\n", 40<<10)
	for name, c := range map[string]struct {
		request, answer string
		want            rawMessage // request as the upstream must see it
		back            rawMessage // answer as the client must see it
	}{
		"plain": {
			"POST /v1/messages?beta=true HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nX-Two: a\r\nX-Two: b\r\nAuthorization: Bearer k\r\n\r\nbody",
			"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Up: 1\r\nX-Up: 2\r\nSet-Cookie: a=b\r\n\r\nhi",
			rawMessage{"POST /v1/messages?beta=true HTTP/1.1", []string{"Authorization: Bearer k", "X-Two: a", "X-Two: b"}, "body"},
			rawMessage{"HTTP/1.1 200 OK", []string{"Set-Cookie: a=b", "X-Up: 1", "X-Up: 2"}, "hi"},
		},
		"odd target": {
			"GET /v1/files/a%2Fb//c/../d;e?x=%20y&&=z?? HTTP/1.1\r\nHost: localhost\r\n\r\n",
			"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
			rawMessage{"GET /v1/files/a%2Fb//c/../d;e?x=%20y&&=z?? HTTP/1.1", nil, ""},
			rawMessage{"HTTP/1.1 200 OK", nil, ""},
		},
		"odd characters": {
			"GET /v1/[a]|{b}^\"\xc3\xa9%C3%A9 HTTP/1.1\r\nHost: localhost\r\n\r\n",
			"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
			rawMessage{"GET /v1/[a]|{b}^\"\xc3\xa9%C3%A9 HTTP/1.1", nil, ""},
			rawMessage{"HTTP/1.1 200 OK", nil, ""},
		},
		"two slashes in front": {
			"GET //a//b HTTP/1.1\r\nHost: localhost\r\n\r\n",
			"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
			rawMessage{"GET //a//b HTTP/1.1", nil, ""},
			rawMessage{"HTTP/1.1 200 OK", nil, ""},
		},
		"empty query": {
			"GET /v1/models? HTTP/1.1\r\nHost: localhost\r\n\r\n",
			"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
			rawMessage{"GET /v1/models? HTTP/1.1", nil, ""},
			rawMessage{"HTTP/1.1 200 OK", nil, ""},
		},
		"encodings pass as they are": {
			"POST /v1/responses HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Encoding: zstd\r\nAccept-Encoding: gzip, br\r\nUser-Agent: codex/1\r\n\r\n(\xb5/\xfd\x00",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\nDate: x\r\n\r\n3\r\n\x1f\x8b\x08\r\n0\r\n\r\n",
			rawMessage{"POST /v1/responses HTTP/1.1", []string{"Accept-Encoding: gzip, br", "Content-Encoding: zstd", "User-Agent: codex/1"}, "(\xb5/\xfd\x00"},
			rawMessage{"HTTP/1.1 200 OK", []string{"Content-Encoding: gzip", "Date: x"}, "\x1f\x8b\x08"},
		},
		"chunked with trailers": {
			"POST /v1/x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-End\r\nContent-Type: text/event-stream\r\n\r\n3\r\nabc\r\n0\r\nX-End: 2\r\n\r\n",
			rawMessage{"POST /v1/x HTTP/1.1", nil, "abc|X-Sum: 1"},
			rawMessage{"HTTP/1.1 200 OK", []string{"Content-Type: text/event-stream"}, "abc|X-End: 2"},
		},
		"until close": {
			"GET /v1/x HTTP/1.1\r\nHost: localhost\r\n\r\n",
			"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nall of it",
			rawMessage{"GET /v1/x HTTP/1.1", nil, ""},
			rawMessage{"HTTP/1.1 200 OK", []string{"Content-Type: text/plain"}, "all of it"},
		},
		"no content": {
			"DELETE /v1/x HTTP/1.1\r\nHost: localhost\r\n\r\n",
			"HTTP/1.1 204 No Content\r\nX-Id: 1\r\n\r\n",
			rawMessage{"DELETE /v1/x HTTP/1.1", nil, ""},
			rawMessage{"HTTP/1.1 204 No Content", []string{"X-Id: 1"}, ""},
		},
		"not modified": {
			"GET /v1/x HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: \"a\"\r\n\r\n",
			"HTTP/1.1 304 Not Modified\r\nEtag: \"a\"\r\nContent-Type: text/plain\r\n\r\n",
			rawMessage{"GET /v1/x HTTP/1.1", []string{"If-None-Match: \"a\""}, ""},
			rawMessage{"HTTP/1.1 304 Not Modified", []string{"Etag: \"a\"", "content-type: text/plain"}, ""},
		},
		"head": {
			"HEAD /v1/x HTTP/1.1\r\nHost: localhost\r\n\r\n",
			"HTTP/1.1 200 OK\r\nContent-Length: 1234\r\nContent-Type: a/b\r\n\r\n",
			rawMessage{"HEAD /v1/x HTTP/1.1", nil, ""},
			rawMessage{"HTTP/1.1 200 OK", []string{"Content-Type: a/b"}, ""},
		},
		"hop by hop": {
			"POST /v1/x HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 5\r\nTE: trailers\r\nProxy-Authorization: Basic x\r\nContent-Length: 0\r\n\r\n",
			"HTTP/1.1 401 Unauthorized\r\nConnection: X-Bye\r\nX-Bye: 1\r\nWWW-Authenticate: Bearer\r\nContent-Length: 1\r\n\r\n!",
			rawMessage{"POST /v1/x HTTP/1.1", []string{"Proxy-Authorization: Basic x", "Te: trailers"}, ""},
			rawMessage{"HTTP/1.1 401 Unauthorized", []string{"Www-Authenticate: Bearer"}, "!"},
		},
		"big both ways": {
			"POST /v1/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + fmt.Sprint(len(big)) + "\r\n\r\n" + big,
			"HTTP/1.1 500 Internal Server Error\r\nContent-Length: " + fmt.Sprint(len(big)) + "\r\n\r\n" + big,
			rawMessage{"POST /v1/x HTTP/1.1", nil, big},
			rawMessage{"HTTP/1.1 500 Internal Server Error", nil, big},
		},
	} {
		t.Run(name, func(t *testing.T) {
			seen := make(chan rawMessage, 1)
			up := rawUpstream(t, func(conn net.Conn, br *bufio.Reader) {
				m, err := readRaw(t, br, false)
				if err != nil {
					return
				}
				seen <- m
				io.WriteString(conn, c.answer)
			})
			g := newRig(t, up)
			conn, br := dial(t, g.url)
			io.WriteString(conn, c.request)
			method, _, _ := strings.Cut(c.request, " ")
			status := strings.Fields(c.answer)[1]
			got, err := readRaw(t, br, method == "HEAD" || status == "204" || status == "304")
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, <-seen); d != "" {
				t.Errorf("request changed (-want +got):\n%s", d)
			}
			if d := cmp.Diff(c.back, got); d != "" {
				t.Errorf("answer changed (-want +got):\n%s", d)
			}
			r := g.next()
			if r.Outcome != transcript.OK || fmt.Sprint(r.Status) != status || r.Method != method {
				t.Errorf("recorded %s %d %s %v", r.Method, r.Status, r.Outcome, r.Error)
			}
			if want, _, _ := strings.Cut(c.want.Body, "|"); body(t, r.Request) != want {
				t.Error("recorded request differs")
			}
			if want, _, _ := strings.Cut(c.back.Body, "|"); body(t, r.Response) != want {
				t.Error("recorded answer differs")
			}
		})
	}
}

func TestProxy_StreamsBeforeUpstreamEnds(t *testing.T) {
	for _, head := range []string{
		"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 40\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n\r\n",
	} {
		t.Run(head, func(t *testing.T) {
			release := make(chan bool)
			up := rawUpstream(t, func(c net.Conn, br *bufio.Reader) {
				if _, err := readRaw(t, br, false); err != nil {
					return
				}
				<-release
				io.WriteString(c, head)
				<-release
				for i := range 4 {
					if strings.Contains(head, "chunked") {
						fmt.Fprintf(c, "a\r\npiece %03d\n\r\n", i)
					} else {
						fmt.Fprintf(c, "piece %03d\n", i)
					}
					<-release
				}
				if strings.Contains(head, "chunked") {
					io.WriteString(c, "0\r\n\r\n")
				}
			})
			g := newRig(t, up)
			conn, br := dial(t, g.url)
			io.WriteString(conn, "GET /v1/x HTTP/1.1\r\nHost: localhost\r\n\r\n")
			release <- true
			for { // the head comes before any piece is sent
				line, err := br.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				if line == "\r\n" {
					break
				}
			}
			release <- true
			for i := range 4 { // each piece comes before the next is sent
				for {
					line, err := br.ReadString('\n')
					if err != nil {
						t.Fatal(err)
					}
					if strings.Contains(line, "piece") {
						if line != fmt.Sprintf("piece %03d\n", i) {
							t.Fatal(line)
						}
						break
					}
				}
				release <- true
			}
			r := g.next()
			if len(r.Chunks) != 4 || body(t, r.Response) != "piece 000\npiece 001\npiece 002\npiece 003\n" || r.Outcome != transcript.OK {
				t.Errorf("%v %v %q", r.Chunks, r.Outcome, body(t, r.Response))
			}
			for i, c := range r.Chunks {
				if c.Offset != int64(i*10) || (i > 0 && c.At < r.Chunks[i-1].At) || c.At < r.FirstByte {
					t.Errorf("chunk %d: %+v", i, c)
				}
			}
		})
	}
}

// Connections are kept on both sides, and pipelined requests are answered.
func TestProxy_KeepsConnections(t *testing.T) {
	conns := make(chan bool, 100)
	up := rawUpstream(t, func(c net.Conn, br *bufio.Reader) {
		conns <- true
		for {
			m, err := readRaw(t, br, false)
			if err != nil {
				return
			}
			fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(m.Body), m.Body)
		}
	})
	g := newRig(t, up)
	conn, br := dial(t, g.url)
	for i := range 20 {
		b := strings.Repeat("y", i*1000)
		fmt.Fprintf(conn, "POST /v1/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", len(b), b)
		if i == 10 {
			io.WriteString(conn, "POST /v1/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc")
			if m, err := readRaw(t, br, false); err != nil || m.Body != b {
				t.Fatal(i, err)
			}
			b = "abc"
		}
		if m, err := readRaw(t, br, false); err != nil || m.Body != b {
			t.Fatal(i, err, len(m.Body))
		}
		g.next().Release()
	}
	if n := len(conns); n != 1 {
		t.Errorf("%d connections to the upstream", n)
	}
}

func TestProxy_UsesTLS(t *testing.T) {
	for _, h2 := range []bool{false, true} {
		t.Run(fmt.Sprint(h2), func(t *testing.T) {
			proto := make(chan string, 10)
			srv, pool := tlsServer(t, h2, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				http.NewResponseController(w).EnableFullDuplex()
				proto <- r.Proto
				w.Header().Set("X-Target", r.RequestURI)
				io.Copy(w, r.Body)
			}))
			g := newRig(t, srv, func(o *recorder.Options) { o.RootCAs = pool })
			for _, size := range []int{0, 10, 5000, 200 << 10, 2 << 20} {
				b := strings.Repeat("z", size)
				resp, err := http.Post(g.url+"/v1/a%2Fb?q=", "", strings.NewReader(b))
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(resp.Body)
				if err != nil || string(got) != b || resp.Header.Get("X-Target") != "/v1/a%2Fb?q=" {
					t.Fatal(size, len(got), err, resp.Header, string(got[:min(200, len(got))]))
				}
				r := g.next()
				if body(t, r.Request) != b || body(t, r.Response) != b {
					t.Error("recorded bodies differ")
				}
				want := "HTTP/1.1"
				if h2 {
					want = "HTTP/2.0"
				}
				if p := <-proto; p != want {
					t.Error(p)
				}
			}
		})
	}
}

// An upstream that closes kept connections without a word costs no answer.
func TestProxy_NoticesClosedConnections(t *testing.T) {
	closed := make(chan bool, 1)
	up := rawUpstream(t, func(c net.Conn, br *bufio.Reader) {
		if _, err := readRaw(t, br, false); err != nil {
			return
		}
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		c.Close()
		closed <- true
	})
	g := newRig(t, up)
	conn, br := dial(t, g.url)
	for i := range 20 {
		io.WriteString(conn, "POST /v1/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}")
		if m, err := readRaw(t, br, false); err != nil || m.Body != "ok" {
			t.Fatal(i, m, err)
		}
		<-closed
	}
}

// What has come in from the upstream is one piece, however many chunks it is.
func TestProxy_HandsOnAtOnceWhatIsThere(t *testing.T) {
	read := make(chan bool)
	up := rawUpstream(t, func(conn net.Conn, br *bufio.Reader) {
		_, _ = readRaw(t, br, false)
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nstart\r\n")
		<-read
		chunk := "c8\r\n" + strings.Repeat("x", 200) + "\r\n"
		io.WriteString(conn, strings.Repeat(chunk, 60)+"0\r\n\r\n")
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
	close(read)
	if b, err := io.ReadAll(resp.Body); err != nil || len(b) != 60*200 {
		t.Fatalf("client got %d bytes, %v", len(b), err)
	}
	if r := g.next(); len(r.Chunks) != 2 || body(t, r.Response) != "start"+strings.Repeat("x", 60*200) {
		t.Errorf("recorded %d pieces", len(r.Chunks))
	}
}
