package recorder_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/recorder/spool"
)

// BenchmarkProxy relays 4 KB each way over one connection. Client and upstream
// allocate nothing.
func BenchmarkProxy(b *testing.B) {
	request := fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer sk-none\r\nUser-Agent: bench\r\nAccept: */*\r\nContent-Length: 4096\r\n\r\n%s", strings.Repeat("q", 4096))
	answer := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nDate: Sun, 29 Nov 2026 00:00:00 GMT\r\nX-Request-Id: req_1\r\nContent-Length: 4096\r\n\r\n%s", strings.Repeat("a", 4096))
	for _, record := range []bool{false, true} {
		b.Run(fmt.Sprintf("record=%v", record), func(b *testing.B) {
			opts := recorder.Options{Upstreams: []recorder.Upstream{{URL: serveBytes(b, answer)}}, Proxy: http.ProxyFromEnvironment}
			if record {
				opts.Spool = drainedSpool(b)
			}
			p, err := recorder.NewProxy(opts)
			if err != nil {
				b.Fatal(err)
			}
			srv := httptest.NewServer(p)
			defer srv.Close()
			c, err := net.Dial("tcp", srv.Listener.Addr().String())
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			in, out, size := bufio.NewReader(c), []byte(request), 0
			b.ReportAllocs()
			for range b.N {
				c.Write(out)
				if size == 0 {
					size = answerSize(b, in)
				} else if _, err := in.Discard(size); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// serveBytes answers each request of 4096 bytes.
func serveBytes(b *testing.B, answer string) *url.URL {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				in := bufio.NewReader(c)
				out := []byte(answer)
				for {
					for line := []byte("x"); len(line) > 0; {
						if line, _, err = in.ReadLine(); err != nil {
							return
						}
					}
					if _, err := in.Discard(4096); err != nil {
						return
					}
					c.Write(out)
				}
			}()
		}
	}()
	return &url.URL{Scheme: "http", Host: l.Addr().String()}
}

// drainedSpool is a spool whose records are released at once.
func drainedSpool(b *testing.B) *spool.Spool {
	s, err := spool.Open(b.TempDir(), spool.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	go func() {
		for {
			r, err := s.Next(context.Background())
			if err != nil {
				return
			}
			r.Release()
		}
	}()
	return s
}

// answerSize reads an answer and returns its length.
func answerSize(b *testing.B, in *bufio.Reader) int {
	size := 4096
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			b.Fatal(err)
		}
		size += len(line)
		if line == "\r\n" {
			break
		}
	}
	_, _ = in.Discard(4096)
	return size
}
