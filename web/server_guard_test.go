package web_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/web"
)

// routes that give data, with something that only the data holds.
func dataRoutes() []string {
	return []string{
		"/", "/exchanges", "/r/1", "/r/last", "/api/runs", "/api/runs/r1", "/x/2", "/x/last", "/x/2/wire", "/x/2/request", "/x/2/response", "/x/2/item?side=request&at=/messages/0&part=text",
		"/api/exchanges", "/api/exchanges/2", "/static/retake.css", "/login", "/nowhere",
	}
}

func TestGuard_UnknownHostIsRefusedEverywhere(t *testing.T) {
	o := options(sampleStore(t))
	o.AllowHosts = []string{"Retake.internal"}
	h := web.New(o)
	for _, host := range []string{
		"evil.example", "evil.example:7778", "localhost.evil.example:7778", "127.0.0.1.evil.example", "", "169.254.169.254",
		"localhost@evil.example", "0.0.0.0:7778", "[::]:7778", "10.0.0.1", "xlocalhost", "localhost:7778:7778", "[::ffff:10.0.0.1]:80",
	} {
		for _, target := range dataRoutes() {
			w := ask(h, "GET", target, "Host", host)
			if w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), "parser.go") {
				t.Errorf("Host %q, %s: status %d, want 403 and no data", host, target, w.Code)
			}
		}
	}
	for _, host := range []string{
		"127.0.0.1:7778", "localhost:7778", "[::1]:7778", "LOCALHOST:7778", "localhost", "[::1]", "127.9.9.9:1", "retake.internal:7778",
		"RETAKE.INTERNAL", "[::ffff:127.0.0.1]:80",
	} {
		if w := ask(h, "GET", "/", "Host", host); w.Code != http.StatusOK {
			t.Errorf("Host %q: status %d, want 200", host, w.Code)
		}
	}
}

func TestGuard_OtherSites(t *testing.T) {
	o := options(sampleStore(t))
	o.AllowOrigins = []string{"https://tools.example"}
	h := web.New(o)
	for _, c := range []struct {
		name    string
		headers []string
		want    int
	}{
		{"typed address", []string{"Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 200},
		{"own page", []string{"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "cors"}, 200},
		{"own origin without fetch metadata", []string{"Origin", "http://127.0.0.1:7778"}, 200},
		{"program", nil, 200},
		{"link followed from another site", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 200},
		{"frame in another site", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, 403},
		{"fetch from another site", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors", "Origin", "https://evil.example"}, 403},
		{"fetch without cors", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"}, 403},
		{"another port of this machine", []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "cors", "Origin", "http://127.0.0.1:3000"}, 403},
		{"foreign origin without fetch metadata", []string{"Origin", "https://evil.example"}, 403},
		{"origin null", []string{"Origin", "null"}, 403},
		{"foreign origin that claims to be its own", []string{"Sec-Fetch-Site", "same-origin", "Origin", "https://evil.example"}, 403},
		{"allowed origin", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors", "Origin", "https://tools.example"}, 200},
	} {
		for _, target := range []string{"/x/2", "/api/exchanges", "/x/2/request"} {
			if w := ask(h, "GET", target, c.headers...); w.Code != c.want {
				t.Errorf("%s, %s: status %d, want %d", c.name, target, w.Code, c.want)
			}
		}
	}
	w := ask(h, "GET", "/api/exchanges", "Origin", "https://tools.example")
	if got := w.Header().Get("Access-Control-Allow-Origin"); got != "https://tools.example" {
		t.Errorf("allowed origin may not read: %q", got)
	}
	if got := ask(h, "GET", "/", "Origin", "https://evil.example").Header().Get("Access-Control-Allow-Origin"); got != "" {
		t.Errorf("a foreign origin may read: %q", got)
	}
}

func TestGuard_OnlyReading(t *testing.T) {
	h := sampleViewer(t)
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE", "MADE-UP"} {
		for _, target := range dataRoutes() {
			if method == "POST" && target == "/login" {
				continue
			}
			if w := ask(h, method, target); w.Code != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: status %d, want 405", method, target, w.Code)
			}
		}
	}
	if w := ask(h, "HEAD", "/x/2"); w.Code != http.StatusOK {
		t.Errorf("HEAD: status %d", w.Code)
	}
}

func TestGuard_NoPathsFromRequests(t *testing.T) {
	h := sampleViewer(t)
	for _, target := range []string{
		"/api/runs/..%2F..%2F..%2F..%2Fetc%2Fpasswd", "/api/exchanges/..%2F..%2F..%2F..%2Fetc%2Fpasswd", "/api/exchanges/%2e%2e/%2e%2e/etc/passwd",
		"/api/exchanges/..%5C..%5Cwindows%5Cwin.ini", "/static/../../../../etc/passwd", "/static/%252e%252e%252fetc%252fpasswd",
		"/static/..%2fserver.go", "/static/%2e%2e%2fdoc.go", "/blobs/sha256:../../secret", "/x/..%2f..%2fetc/request", "/x/2/..%2f..%2fetc",
		"/static/", "/static/.", "/static/x%00.css", "//etc/passwd", "/x/%2e%2e/item?side=../../etc&at=/passwd",
	} {
		for _, method := range []string{"GET", "DELETE"} {
			w := ask(h, method, target)
			if w.Code != 404 && w.Code != 405 {
				t.Errorf("%s %s: status %d", method, target, w.Code)
			}
			if strings.Contains(w.Body.String(), "root:") {
				t.Errorf("%s %s gives a file of the machine", method, target)
			}
		}
	}
}

func TestHeaders_OnEveryAnswer(t *testing.T) {
	h := sampleViewer(t)
	for _, target := range append(dataRoutes(), "/x/99", "/?before=abc", "/api/exchanges/zzz", "/static/nothing") {
		for _, host := range []string{"127.0.0.1:7778", "evil.example"} {
			got := ask(h, "GET", target, "Host", host).Header()
			for name, want := range map[string]string{
				"Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; " +
					"form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
				"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin",
			} {
				if got.Get(name) != want {
					t.Errorf("%s at %s: %s is %q", target, host, name, got.Get(name))
				}
			}
			if strings.HasPrefix(got.Get("Content-Type"), "text/html") != (host == "127.0.0.1:7778" && isPage(target)) {
				t.Errorf("%s at %s is %q", target, host, got.Get("Content-Type"))
			}
		}
	}
}

func isPage(target string) bool {
	for _, part := range []string{"/request", "/response", "/item", "/api/", ".css"} {
		if strings.Contains(target, part) {
			return false
		}
	}
	return true
}

// broken panics where a page reads.
type broken struct{ transcript.Reader }

func (broken) ExchangeN(context.Context, int64) (*transcript.Exchange, error) { panic("broken <b>") }

func TestPanic_IsAPageAndNotTheEnd(t *testing.T) {
	h := web.New(options(broken{sampleStore(t)}))
	for _, target := range []string{"/x/2", "/api/exchanges/2"} {
		w := ask(h, "GET", target)
		if w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "could not be built") || strings.Contains(w.Body.String(), "broken") {
			t.Errorf("%s: status %d: %s", target, w.Code, w.Body)
		}
	}
	if w := ask(h, "GET", "/"); w.Code != http.StatusOK {
		t.Errorf("after a panic: status %d", w.Code)
	}
}
