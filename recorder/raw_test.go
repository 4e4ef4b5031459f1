package recorder_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// rawMessage is a request or answer as its bytes were, for comparison: net/http
// on the test's side would hide differences.
type rawMessage struct {
	Line   string
	Header []string // "Name: value", sorted, without those of the connection
	Body   string
}

// readRaw reads a message. Chunked bodies are joined; trailers follow the body.
func readRaw(t testing.TB, br *bufio.Reader, noBody bool) (m rawMessage, err error) {
	t.Helper()
	tp := textproto.NewReader(br)
	if m.Line, err = tp.ReadLine(); err != nil {
		return m, err
	}
	length, chunked := -1, false
	if !strings.HasPrefix(m.Line, "HTTP/") {
		length = 0
	}
	for {
		line, err := tp.ReadLine()
		if err != nil {
			return m, err
		}
		if line == "" {
			break
		}
		name, value, _ := strings.Cut(line, ": ")
		switch strings.ToLower(name) {
		case "content-length":
			fmt.Sscan(value, &length)
		case "transfer-encoding":
			chunked = true
		case "host", "connection", "trailer":
		default:
			m.Header = append(m.Header, line)
		}
	}
	slices.Sort(m.Header)
	switch {
	case noBody:
	case chunked:
		for {
			line, err := tp.ReadLine()
			if err != nil {
				return m, err
			}
			var n int
			if _, err := fmt.Sscanf(line, "%x", &n); err != nil {
				return m, fmt.Errorf("chunk %q: %w", line, err)
			}
			if n == 0 {
				break
			}
			b := make([]byte, n+2)
			if _, err := io.ReadFull(br, b); err != nil {
				return m, err
			}
			m.Body += string(b[:n])
		}
		for {
			line, err := tp.ReadLine()
			if err != nil {
				return m, err
			}
			if line == "" {
				break
			}
			m.Body += "|" + line
		}
	case length >= 0:
		b := make([]byte, length)
		if _, err := io.ReadFull(br, b); err != nil {
			return m, err
		}
		m.Body = string(b)
	default:
		b, err := io.ReadAll(br)
		if err != nil {
			return m, err
		}
		m.Body = string(b)
	}
	return m, nil
}

// rawUpstream serves connections by hand.
func rawUpstream(t testing.TB, serve func(c net.Conn, br *bufio.Reader)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c, bufio.NewReader(c))
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

func dial(t testing.TB, u string) (net.Conn, *bufio.Reader) {
	t.Helper()
	p, err := url.Parse(u)
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", p.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	return c, bufio.NewReader(c)
}
