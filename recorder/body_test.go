package recorder_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/retake-debugger/retake/transcript"
)

// The upstream sees each piece of a body before the client sends the next, and
// the head before any.
func TestProxy_StreamsRequests(t *testing.T) {
	for _, head := range []string{
		"POST /v1/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 40\r\n\r\n",
		"POST /v1/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4000000\r\n\r\n",
		"POST /v1/x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n",
	} {
		t.Run(head, func(t *testing.T) {
			arrived := make(chan string)
			up := rawUpstream(t, func(c net.Conn, br *bufio.Reader) {
				for {
					line, err := br.ReadString('\n')
					if err != nil {
						return
					}
					if line == "\r\n" || strings.Contains(line, "piece") {
						arrived <- line
					}
					if strings.Contains(line, "piece 003") {
						io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
					}
				}
			})
			g := newRig(t, up)
			conn, br := dial(t, g.url)
			io.WriteString(conn, head)
			chunked := strings.Contains(head, "chunked")
			if got := <-arrived; got != "\r\n" {
				t.Fatal(got)
			}
			for i := range 4 {
				piece := fmt.Sprintf("piece %03d\n", i)
				if chunked {
					fmt.Fprintf(conn, "a\r\n%s\r\n", piece)
				} else {
					io.WriteString(conn, piece)
				}
				for got := ""; got != piece; {
					got = <-arrived
				}
			}
			if m, err := readRaw(t, br, false); err != nil || m.Body != "ok" {
				t.Fatal(m, err)
			}
		})
	}
}

func TestProxy_PassesContinue(t *testing.T) {
	up := rawUpstream(t, func(c net.Conn, br *bufio.Reader) {
		for {
			line, err := br.ReadString('\n')
			if err != nil {
				return
			}
			if line == "\r\n" {
				break
			}
		}
		io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n")
		b := make([]byte, 4)
		io.ReadFull(br, b)
		fmt.Fprintf(c, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n%s", b)
	})
	g := newRig(t, up)
	conn, br := dial(t, g.url)
	io.WriteString(conn, "POST /v1/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n")
	if m, err := readRaw(t, br, true); err != nil || m.Line != "HTTP/1.1 100 Continue" {
		t.Fatal(m, err)
	}
	io.WriteString(conn, "body")
	if m, err := readRaw(t, br, true); err != nil || m.Line != "HTTP/1.1 103 Early Hints" || len(m.Header) != 1 {
		t.Fatal(m, err)
	}
	if m, err := readRaw(t, br, false); err != nil || m.Body != "body" || len(m.Header) != 0 {
		t.Fatal(m, err)
	}
	if r := g.next(); body(t, r.Request) != "body" || r.Outcome != transcript.OK {
		t.Error(r.Outcome)
	}
}

// An upstream that answers before it has the whole body, and closes or not.
func TestProxy_PassesEarlyAnswers(t *testing.T) {
	const answer = "HTTP/1.1 413 Payload Too Large\r\nContent-Length: 7\r\nConnection: close\r\n\r\ntoo big"
	for _, size := range []int{1000, 100 << 10, 50 << 20} {
		for _, sent := range []int{0, 500, size} {
			for _, closes := range []bool{true, false} {
				t.Run(fmt.Sprint(size, sent, closes), func(t *testing.T) {
					hold := make(chan bool)
					defer close(hold)
					up := rawUpstream(t, func(c net.Conn, br *bufio.Reader) {
						for {
							line, err := br.ReadString('\n')
							if err != nil {
								return
							}
							if line == "\r\n" {
								break
							}
						}
						io.WriteString(c, answer)
						if !closes {
							<-hold
						}
					})
					g := newRig(t, up)
					conn, br := dial(t, g.url)
					fmt.Fprintf(conn, "POST /v1/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n", size)
					go io.CopyN(conn, zeros{}, int64(sent))
					m, err := readRaw(t, br, false)
					if err != nil || m.Body != "too big" {
						t.Fatal(m, err)
					}
					conn.Close()
					r := g.next()
					if r.Status != 413 || body(t, r.Response) != "too big" || r.Outcome != transcript.OK {
						t.Errorf("%d %v %v", r.Status, r.Outcome, r.Error)
					}
				})
			}
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// What has come in of a body goes on alone after a while; the rest is read
// meanwhile. Neither may touch the other, upstream or on record.
func TestProxy_KeepsAHesitantBodyInOrder(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		w.Write(b)
	}))
	defer up.Close()
	g := newRig(t, up.URL)
	const clients, each = 8, 10
	var all sync.WaitGroup
	for c := range clients {
		all.Go(func() {
			rnd := rand.New(rand.NewPCG(1, uint64(c)))
			for i := range each {
				sent := make([]byte, 20_000+rnd.IntN(40_000))
				for i := range sent {
					sent[i] = 'a' + byte(rnd.IntN(26))
				}
				parts, in := io.Pipe()
				go func() {
					rnd := rand.New(rand.NewPCG(uint64(i), uint64(c)))
					rest := sent
					for len(rest) > 0 {
						n := min(len(rest), 1+rnd.IntN(12_000))
						in.Write(rest[:n])
						rest = rest[n:]
						time.Sleep(time.Duration(rnd.IntN(12)) * time.Millisecond)
					}
					in.Close()
				}()
				req, _ := http.NewRequest("POST", g.url+"/v1/x", parts)
				req.ContentLength = int64(len(sent))
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					t.Error(err)
					return
				}
				got, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || !bytes.Equal(got, sent) {
					t.Errorf("%d bytes came through as %d others: %v", len(sent), len(got), err)
				}
			}
		})
	}
	all.Wait()
	for range clients * each {
		r := g.next()
		if asked, answered := body(t, r.Request), body(t, r.Response); asked != answered || r.Lossy {
			t.Errorf("recorded %d bytes of request, %d of the same as response", len(asked), len(answered))
		}
		r.Release()
	}
}
