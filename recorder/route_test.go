package recorder_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/recorder"
)

// asked sends a request to a proxy whose upstreams are stood in for by an HTTP
// proxy, and returns the URL that would have been called, or "" and the answer.
func asked(t *testing.T, target string, ups ...recorder.Upstream) (string, string) {
	t.Helper()
	called := ""
	stand := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		called = r.RequestURI
		if r.Host == "" || !strings.Contains(r.RequestURI, "://"+r.Host+"/") {
			t.Errorf("Host %q for %s", r.Host, r.RequestURI)
		}
	}))
	defer stand.Close()
	via, _ := url.Parse(stand.URL)
	if len(ups) == 0 {
		for _, p := range dialect.Providers() {
			if p.Name != "" {
				ups = append(ups, recorder.Upstream{Name: p.Name, URL: p.Base()})
			}
		}
	}
	p, err := recorder.NewProxy(recorder.Options{Upstreams: ups, Find: dialect.UpstreamOf, Proxy: http.ProxyURL(via)})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	srv := httptest.NewServer(p)
	defer srv.Close()
	conn, br := dial(t, srv.URL)
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", target)
	m, err := readRaw(t, br, false)
	if err != nil {
		t.Fatal(err)
	}
	return called, m.Line + " " + m.Body
}

func upstream(t testing.TB, name, u string) recorder.Upstream {
	t.Helper()
	p, err := url.Parse(u)
	if err != nil {
		t.Fatal(err)
	}
	return recorder.Upstream{Name: name, URL: p}
}

func TestProxy_JoinsBaseURLs(t *testing.T) {
	var cases []struct{ Upstream, Request, Sent string }
	readJSON(t, "testdata/targets.json", &cases)
	if len(cases) < 7 {
		t.Fatal("cases are missing")
	}
	for _, more := range [][3]string{
		{"http://a.test/api/v1", "/api/v1/chat/completions", "http://a.test/api/v1/chat/completions"},
		{"http://a.test/v1beta", "/v1beta/models/m:generateContent?alt=sse", "http://a.test/v1beta/models/m:generateContent?alt=sse"},
		{"http://a.test/v1", "/v1beta/x", "http://a.test/v1/v1beta/x"},
		{"http://a.test/models", "/models", "http://a.test/models/models"},
		{"http://a.test/v1", "/v1", "http://a.test/v1"},
		{"http://a.test/b%2Fc/v1", "/x//y%2F", "http://a.test/b%2Fc/v1/x//y%2F"},
		{"http://a.test", "//x", "http://a.test//x"},
	} {
		cases = append(cases, struct{ Upstream, Request, Sent string }{more[0], more[1], more[2]})
	}
	for _, c := range cases {
		plain := strings.NewReplacer("https://", "http://") // what goes inside TLS cannot be seen here
		got, answer := asked(t, c.Request, upstream(t, "", plain.Replace(c.Upstream)))
		if got != plain.Replace(c.Sent) {
			t.Errorf("%s + %s: sent %s, want %s (%s)", c.Upstream, c.Request, got, c.Sent, answer)
		}
	}
}

func TestProxy_RoutesByName(t *testing.T) {
	ups := []recorder.Upstream{upstream(t, "one", "http://one.test/v1"), upstream(t, "openai", "http://oa.test"), upstream(t, "anthropic", "http://an.test")}
	all := append(ups, upstream(t, "", "http://rest.test/base"))
	for _, c := range []struct {
		target string
		ups    []recorder.Upstream
		want   string
	}{
		{"/one/chat/completions?x=1", ups, "http://one.test/v1/chat/completions?x=1"},
		{"/one/v1/chat/completions", ups, "http://one.test/v1/chat/completions"},
		{"/openai/v1/responses", ups, "http://oa.test/v1/responses"},
		{"/v1/chat/completions", ups, "http://oa.test/v1/chat/completions"},
		{"/v1/models", ups, "http://oa.test/v1/models"},
		{"/v1/messages/count_tokens", ups, "http://an.test/v1/messages/count_tokens"},
		{"/v1/chat/completionsX", ups, ""},
		{"/v1beta/models", ups, ""},
		{"/two/x", ups, ""},
		{"/", ups, ""},
		{"/two/x", all, "http://rest.test/base/two/x"},
		{"/v1/messages", all, "http://rest.test/base/v1/messages"},
		{"/one/x", all, "http://one.test/v1/x"},
		{"/ollama/api/chat", nil, "http://127.0.0.1:11434/api/chat"},
		{"/api/chat", nil, "http://127.0.0.1:11434/api/chat"},
		{"/nobody/v1/chat", nil, ""},
	} {
		got, answer := asked(t, c.target, c.ups...)
		if got != c.want {
			t.Errorf("%s: sent %q, want %q (%s)", c.target, got, c.want, answer)
		}
		if c.want == "" && (!strings.Contains(answer, " 404 ") || !strings.Contains(answer, `"upstreams":[`)) {
			t.Errorf("%s: %s", c.target, answer)
		}
	}
}

func TestNewProxy_RefusesWhatCannotBeCalled(t *testing.T) {
	for _, ups := range [][]recorder.Upstream{
		{{URL: nil}},
		{upstream(t, "", "ftp://h")},
		{upstream(t, "", "http:///p")},
		{upstream(t, "", "http://h?key=1")},
		{upstream(t, "", "http://h"), upstream(t, "", "http://i")},
		{upstream(t, "a", "http://h"), upstream(t, "a", "http://i")},
		{upstream(t, "a/b", "http://h")},
		{upstream(t, "_retake", "http://h")},
	} {
		if _, err := recorder.NewProxy(recorder.Options{Upstreams: ups}); err == nil {
			t.Errorf("%+v is accepted", ups)
		}
	}
}

func TestProxy_NeverCallsItself(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p, err := recorder.NewProxy(recorder.Options{Upstreams: []recorder.Upstream{upstream(t, "", "http://localhost:"+fmt.Sprint(l.Addr().(*net.TCPAddr).Port))}})
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: p}
	go func() { _ = srv.Serve(l) }()
	defer srv.Close()
	resp, err := http.Get("http://" + l.Addr().String() + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != 502 || !strings.Contains(string(b), `"code":"loop"`) {
		t.Error(resp.Status, string(b))
	}
}

func TestProxy_ReportsStatus(t *testing.T) {
	up, _ := okUpstream(t)
	g := newRig(t, up, func(o *recorder.Options) {
		o.Status = func() map[string]any { return map[string]any{"database": "fine"} }
	})
	_, _ = http.Get(g.url + "/v1/models")
	g.next()
	resp, err := http.Get(g.url + "/_retake/status")
	if err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(resp.Body)
	for _, want := range []string{`"database":"fine"`, `"recorded":1`, `"backlog":1`, up} {
		if !strings.Contains(string(b), want) {
			t.Errorf("status lacks %s: %s", want, b)
		}
	}
	if resp, _ := http.Get(g.url + "/_retake/other"); resp.StatusCode != 404 {
		t.Error(resp.Status)
	}
}
