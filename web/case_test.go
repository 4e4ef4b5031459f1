package web_test

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/retake-debugger/retake/web"
)

// A page exported from hostile text runs nothing and loads nothing, in a browser
// and without any policy of a server.
func TestBrowser_ExportedPageIsInert(t *testing.T) {
	o := options(sampleStore(t))
	w := ask(web.New(o), "GET", "/x/7/export?format=html&fetch=1")
	if w.Code != http.StatusOK {
		t.Fatalf("status %d", w.Code)
	}
	file := filepath.Join(t.TempDir(), "x7.html")
	if err := os.WriteFile(file, w.Body.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	b := startBrowser(t, o)
	b.do(chromedp.Navigate("file://" + file))
	if n := eval[int](b, `document.querySelectorAll("img, iframe, object, embed, link, script:not([type='application/json'])").length`); n != 0 {
		t.Errorf("%d elements came from text", n)
	}
	eval[bool](b, `document.querySelectorAll("details").forEach(d => d.open = true) ?? true`)
	if !eval[bool](b, `document.body.innerText.includes(`+quote(payload)+`)`) {
		t.Error("the text cannot be read on the page")
	}
	if !eval[bool](b, `JSON.stringify(JSON.parse(document.getElementById("transcript").textContent)).includes(JSON.stringify(`+quote(payload)+`).slice(1, -1))`) {
		t.Error("the text is not in the page's JSON")
	}
	for _, problem := range b.took() {
		if problem != "request to file://"+file {
			t.Error(problem)
		}
	}
}

// Nothing that a request says becomes a path of a file.
func TestPaths_OfRequestsAreNoPathsOfFiles(t *testing.T) {
	o := options(sampleStore(t))
	h := web.New(o)
	for _, path := range []string{
		"/api/runs/..%2F..%2F..%2F..%2Fetc%2Fpasswd", "/api/runs/%2e%2e/%2e%2e/etc/passwd", "/api/exchanges/..%5C..%5Cwindows%5Cwin.ini",
		"/static/../../../../etc/passwd", "/static/%252e%252e%252fetc%252fpasswd", "/static/..%2fserver.go", "/blobs/sha256:../../secret",
		"/r/..%2f..%2fetc%2fpasswd", "/r/..%2f..%2fetc%2fpasswd/export?format=html&fetch=1", "/x/..%2f..%2fetc%2fpasswd/wire", "/t/..%2f1",
		"/r/1/export?format=..%2f..%2fetc%2fpasswd&fetch=1", "/x/7/item?side=..%2f&at=..%2f..%2fetc%2fpasswd&part=text", "/x/7/image?at=..%2f..%2fetc%2fpasswd&n=0",
	} {
		for _, method := range []string{"GET", "DELETE"} {
			w := ask(h, method, path)
			if !slices.Contains([]int{400, 403, 404, 405}, w.Code) || strings.Contains(w.Body.String(), "root:") || strings.Contains(w.Body.String(), "package web") {
				t.Errorf("%s %s: status %d", method, path, w.Code)
			}
		}
	}
}
