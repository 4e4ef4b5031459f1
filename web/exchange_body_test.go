package web_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/view"
	"github.com/retake-debugger/retake/web"
)

func TestBody_ExactBytesToBeSaved(t *testing.T) {
	h := sampleViewer(t)
	for i, c := range sampled() {
		for side, want := range map[string]memory{"request": c.Request.(memory), "response": c.Response.(memory)} {
			n := view.Ref(int64(i + 1))
			w := ask(h, "GET", "/x/"+n+"/"+side)
			if w.Code != http.StatusOK || w.Body.String() != string(want) {
				t.Errorf("%s %s: status %d, %d bytes, want %d", n, side, w.Code, w.Body.Len(), len(want))
			}
			if got := w.Header().Get("Content-Type"); got != "application/octet-stream" {
				t.Errorf("%s %s: content type %q", n, side, got)
			}
			if got := w.Header().Get("Content-Disposition"); got != `attachment; filename="`+n+"-"+side+`.bin"` {
				t.Errorf("%s %s: disposition %q", n, side, got)
			}
		}
	}
}

func TestItem_WholeAsPlainText(t *testing.T) {
	h := sampleViewer(t)
	for target, want := range map[string]string{
		"/x/2/item?side=request&at=/messages/2/content/0&part=text":         source(),
		"/x/4/item?side=request&at=/messages/2/tool_calls/0&part=arguments": `{"zone":"UTC"`,
		"/x/7/item?side=request&at=/messages/2&part=text":                   payload,
	} {
		w := ask(h, "GET", target)
		if w.Code != http.StatusOK || w.Body.String() != want {
			t.Errorf("%s: status %d: %s", target, w.Code, w.Body)
		}
		if got := w.Header().Get("Content-Type"); got != "text/plain; charset=utf-8" {
			t.Errorf("%s: content type %q", target, got)
		}
	}
	if w := ask(h, "GET", "/x/2/item?side=request&at=/nowhere"); w.Code != http.StatusNotFound {
		t.Errorf("no such item: status %d", w.Code)
	}
}

func TestWire_ShowsBothSides(t *testing.T) {
	h := sampleViewer(t)
	p := open(t, h, "/x/7/wire")
	wantText(t, p.id("request"), "POST https://api.example/v1/chat/completions", "User-Agent", "sample/1.0", "sha256")
	wantText(t, p.id("response"), "200 OK", "X-Evil", "<script>alert(3)</script>")
	wantText(t, open(t, h, "/x/6/wire").id("request"), "not text", "00 01 ff 20 62 69 6e", "|... binary|")
	wantText(t, open(t, h, "/x/2/wire"), "usage as reported", "cache_read_input_tokens")
}

func TestAPI_GivesTheViewStructs(t *testing.T) {
	db := sampleStore(t)
	h := web.New(options(db))
	w := ask(h, "GET", "/api/exchanges?limit=3")
	var rows []view.Row
	if err := json.Unmarshal(w.Body.Bytes(), &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 3 || rows[0].N != xTake {
		t.Errorf("%d rows from x%d", len(rows), rows[0].N)
	}
	e, err := db.ExchangeN(t.Context(), xFirst)
	if err != nil {
		t.Fatal(err)
	}
	x, err := view.NewExchange(t.Context(), db, e)
	if err != nil {
		t.Fatal(err)
	}
	x.AddChunks(e)
	want, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	w = ask(h, "GET", "/api/exchanges/x1?chunks=1")
	if diff := cmp.Diff(string(want)+"\n", w.Body.String()); diff != "" {
		t.Errorf("exchange as JSON (-want +got):\n%s", diff)
	}
	if got := w.Header().Get("Content-Type"); got != "application/json; charset=utf-8" {
		t.Errorf("content type %q", got)
	}
}

func TestAPI_Errors(t *testing.T) {
	h := sampleViewer(t)
	for target, status := range map[string]int{"/api/exchanges/99": 404, "/api/exchanges?limit=x": 400, "/api/exchanges?before=x": 400, "/api/nothing": 404} {
		w := ask(h, "GET", target)
		var body struct{ Error string }
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || w.Code != status || !strings.HasSuffix(body.Error, ".") {
			t.Errorf("%s: status %d: %s", target, w.Code, w.Body)
		}
	}
}
