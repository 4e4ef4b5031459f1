package web_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/web"
)

const secret = "correct horse battery"

func lockedViewer(t *testing.T) http.Handler {
	t.Helper()
	o := options(sampleStore(t))
	o.Token = secret
	return web.New(o)
}

func logIn(h http.Handler, token, next string, header ...string) *httptest.ResponseRecorder {
	form := url.Values{"token": {token}, "next": {next}}
	r := httptest.NewRequest("POST", "/login", strings.NewReader(form.Encode()))
	r.Host = "127.0.0.1:7778"
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestLogin_NothingWithoutToken(t *testing.T) {
	h := lockedViewer(t)
	for _, target := range dataRoutes() {
		if target == "/login" || strings.HasPrefix(target, "/static/") {
			continue
		}
		for _, header := range [][]string{nil, {"X-Retake-Token", "wrong"}, {"X-Retake-Token", secret + " "}, {"Cookie", "retake_viewer="}, {"Cookie", "retake_viewer=" + secret}} {
			w := ask(h, "GET", target, header...)
			if w.Code != http.StatusUnauthorized || strings.Contains(w.Body.String(), "parser.go") {
				t.Errorf("%s with %v: status %d, want 401 and no data", target, header, w.Code)
			}
		}
	}
}

func TestLogin_Header(t *testing.T) {
	if w := ask(lockedViewer(t), "GET", "/api/exchanges", "X-Retake-Token", secret); w.Code != http.StatusOK {
		t.Errorf("status %d", w.Code)
	}
}

func TestLogin_FormSetsACookie(t *testing.T) {
	h := lockedViewer(t)
	form := parse(t, ask(h, "GET", "/x/2?history=all").Body.String())
	next := form.all(func(n *node) bool { return attr(n, "name") == "next" })[0].attr("value")
	w := logIn(h, secret, next, "Sec-Fetch-Site", "same-origin", "Origin", "http://127.0.0.1:7778")
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/x/2?history=all" {
		t.Fatalf("status %d to %q", w.Code, w.Header().Get("Location"))
	}
	cookies := w.Result().Cookies()
	if len(cookies) != 1 {
		t.Fatalf("%d cookies, want 1", len(cookies))
	}
	c := cookies[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || strings.Contains(c.Value, secret) {
		t.Errorf("cookie %v", c)
	}
	if w := ask(h, "GET", "/x/2", "Cookie", c.Name+"="+c.Value); w.Code != http.StatusOK {
		t.Errorf("with the cookie: status %d", w.Code)
	}
	if w := ask(lockedViewer(t), "GET", "/x/2", "Cookie", c.Name+"="+c.Value); w.Code != http.StatusUnauthorized {
		t.Errorf("the cookie of another process: status %d, want 401", w.Code)
	}
}

func TestLogin_Refusals(t *testing.T) {
	h := lockedViewer(t)
	if w := logIn(h, "wrong", "/"); w.Code != http.StatusUnauthorized || len(w.Result().Cookies()) > 0 || !strings.Contains(w.Body.String(), "That is not the token.") {
		t.Errorf("wrong token: status %d", w.Code)
	}
	if w := logIn(h, secret, "/", "Origin", "https://evil.example"); w.Code != http.StatusForbidden {
		t.Errorf("from another site: status %d, want 403", w.Code)
	}
	if w := logIn(h, secret, "/", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"); w.Code != http.StatusForbidden {
		t.Errorf("form of another site: status %d, want 403", w.Code)
	}
	for _, next := range []string{"https://evil.example", "//evil.example", `/\evil.example`, "javascript:alert(1)", "", "/\t/evil.example"} {
		if got := logIn(h, secret, next).Header().Get("Location"); got != "/" {
			t.Errorf("next %q leads to %q", next, got)
		}
	}
}
