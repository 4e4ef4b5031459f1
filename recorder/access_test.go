package recorder_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/retake-debugger/retake/recorder"
)

func readJSON(t testing.TB, path string, v any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(path, err)
	}
}

// okUpstream answers everything and counts.
func okUpstream(t testing.TB) (string, *atomic.Int32) {
	n := new(atomic.Int32)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.Add(1)
		io.WriteString(w, r.Method+" "+r.RequestURI)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, n
}

// rawStatus sends a request by hand and returns the status of the answer.
func rawStatus(t testing.TB, base, request string) (int, string) {
	t.Helper()
	conn, br := dial(t, base)
	defer conn.Close()
	io.WriteString(conn, request)
	m, err := readRaw(t, br, false)
	if err != nil {
		t.Fatal(err)
	}
	var status int
	fmt.Sscanf(m.Line, "HTTP/1.1 %d", &status)
	return status, m.Body
}

func TestProxy_RefusesUnknownHosts(t *testing.T) {
	up, calls := okUpstream(t)
	g := newRig(t, up, func(o *recorder.Options) { o.AllowHosts = []string{"allowed.example", "port.example:81"} })
	u, _ := url.Parse(g.url)
	var cases []struct{ Host, Expect string }
	readJSON(t, "testdata/hosts.json", &cases)
	if len(cases) < 10 {
		t.Fatal("cases are missing")
	}
	for _, more := range [][2]string{
		{"allowed.example", "2xx"}, {"ALLOWED.example:99", "2xx"}, {"port.example:81", "2xx"}, {"port.example", "4xx"},
		{"[::ffff:127.0.0.1]:80", "2xx"}, {"127.1.2.3", "2xx"}, {"10.0.0.1", "4xx"}, {"0.0.0.0", "4xx"}, {"[::1", "4xx"}, {"localhost.", "4xx"},
	} {
		cases = append(cases, struct{ Host, Expect string }{more[0], more[1]})
	}
	for _, c := range cases {
		for _, path := range []string{"/", "/v1/models", "/_retake/status", "/_retake/health"} {
			before := calls.Load()
			host := strings.ReplaceAll(c.Host, "PORT", u.Port())
			status, answer := rawStatus(t, g.url, "GET "+path+" HTTP/1.1\r\nHost: "+host+"\r\nConnection: close\r\n\r\n")
			if fmt.Sprint(status/100, "xx") != c.Expect[:1]+"xx" {
				t.Errorf("Host %q %s: %d, want %s", host, path, status, c.Expect)
			}
			if c.Expect == "4xx" && (calls.Load() != before || strings.Contains(answer, "GET") || strings.Contains(answer, "spool")) {
				t.Errorf("Host %q %s reached something: %s", host, path, answer)
			}
		}
	}
}

func TestProxy_RefusesWebPages(t *testing.T) {
	up, _ := okUpstream(t)
	g := newRig(t, up, func(o *recorder.Options) { o.AllowOrigins = []string{"https://app.example/"} })
	host := strings.TrimPrefix(g.url, "http://")
	for headers, want := range map[string]int{
		"":                         200,
		"Sec-Fetch-Mode: cors\r\n": 200, // SDKs on Node
		"Sec-Fetch-Site: same-origin\r\nOrigin: http://" + host + "\r\n": 200,
		"Sec-Fetch-Site: none\r\n":                                       200,
		"Origin: https://app.example\r\nSec-Fetch-Site: cross-site\r\n":  200,
		"Origin: https://evil.example\r\n":                               403,
		"Origin: null\r\n":                                               403,
		"Origin: http://localhost:1\r\n":                                 403,
		"Sec-Fetch-Site: cross-site\r\n":                                 403,
		"Sec-Fetch-Site: same-site\r\nOrigin: http://" + host + "\r\n":   403,
		"Sec-Fetch-Site: Cross-Site\r\n":                                 403,
	} {
		status, answer := rawStatus(t, g.url, "GET /v1/models HTTP/1.1\r\nHost: "+host+"\r\n"+headers+"Connection: close\r\n\r\n")
		if status != want || (want == 403 && !json.Valid([]byte(answer))) {
			t.Errorf("%q: %d %s, want %d", headers, status, answer, want)
		}
	}
}

func TestProxy_NeedsAndStripsToken(t *testing.T) {
	seen := make(chan rawMessage, 10)
	up := rawUpstream(t, func(c net.Conn, br *bufio.Reader) {
		m, err := readRaw(t, br, false)
		if err != nil {
			return
		}
		seen <- m
		io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
	})
	g := newRig(t, up, func(o *recorder.Options) { o.Token = "T0KEN-s3cr3t" })
	for request, want := range map[string]int{
		"GET /v1/a HTTP/1.1\r\nX-Retake-Token: T0KEN-s3cr3t": 200,
		"GET /_t/T0KEN-s3cr3t/v1/a HTTP/1.1":                 200,
		"GET /v1/a HTTP/1.1":                                 403,
		"GET /v1/a HTTP/1.1\r\nX-Retake-Token: T0KEN":        403,
		"GET /_t/T0KEN/v1/a HTTP/1.1":                        403,
		"GET /_t/ HTTP/1.1":                                  403,
		"GET /_retake/status HTTP/1.1":                       403,
		"GET /_retake/health HTTP/1.1":                       200,
	} {
		status, answer := rawStatus(t, g.url, request+"\r\nHost: localhost\r\nConnection: close\r\n\r\n")
		if status != want {
			t.Errorf("%s: %d %s", request, status, answer)
		}
		if want == 200 && strings.Contains(request, "/v1/a") {
			if m := <-seen; m.Line != "GET /v1/a HTTP/1.1" || strings.Contains(fmt.Sprint(m), "T0KEN") {
				t.Errorf("%s reached the upstream as %v", request, m)
			}
			if r := g.next(); strings.Contains(fmt.Sprint(r.Capture), "T0KEN") || !strings.HasSuffix(r.URL, "/v1/a") {
				t.Errorf("recorded %+v", r.Capture)
			}
		}
	}
	grepSpool(t, g.dir, "T0KEN")
}

// grepSpool fails if any file of a spool holds one of the words.
func grepSpool(t testing.TB, dir string, words ...string) {
	t.Helper()
	files := spoolFiles(t, dir)
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range words {
			if strings.Contains(string(b), w) {
				t.Errorf("%s holds %q", path, w)
			}
		}
	}
}

func TestProxy_KeepsCredentialsOffTheDisk(t *testing.T) {
	var c struct {
		Request  struct{ Headers map[string]string }
		Response struct{ Headers map[string]string }
	}
	readJSON(t, "testdata/credentials.json", &c)
	if len(c.Request.Headers) < 8 {
		t.Fatal("headers are missing")
	}
	var got http.Header
	var query string
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, query = r.Header.Clone(), r.URL.RawQuery
		for name, value := range c.Response.Headers {
			w.Header().Set(name, value)
		}
	}))
	defer up.Close()
	var log strings.Builder
	g := newRig(t, up.URL, func(o *recorder.Options) { o.Log = textLog(&log) })
	r, _ := http.NewRequest("POST", g.url+"/v1/chat/completions?key=AIza-HDRTEST-0008&alt=sse", strings.NewReader("{}"))
	for name, value := range c.Request.Headers {
		r.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if resp.Header.Get("Set-Cookie") != c.Response.Headers["set-cookie"] || query != "key=AIza-HDRTEST-0008&alt=sse" {
		t.Error("changed on the way", resp.Header, query)
	}
	for name, value := range c.Request.Headers {
		if got.Get(name) != value {
			t.Errorf("%s reached the upstream as %q", name, got.Get(name))
		}
	}
	rec := g.next()
	shown := fmt.Sprintf("%+v %s", rec.Capture, log.String())
	for _, secret := range []string{"HDRTEST", "SERSVEVTVC0wMDA2"} {
		if strings.Contains(shown, secret) {
			t.Errorf("record or log holds %s: %s", secret, shown)
		}
	}
	if !strings.Contains(shown, "org-keepme") || !strings.Contains(rec.RequestHeader["Authorization"][0], "Bearer [redacted] fp:") || !strings.HasSuffix(rec.URL, "&alt=sse") {
		t.Error(shown)
	}
	if n := len(spoolFiles(t, g.dir)); n == 0 {
		t.Fatal("no spool file to look into")
	}
	grepSpool(t, g.dir, "HDRTEST", "SERSVEVTVC0wMDA2")
}
