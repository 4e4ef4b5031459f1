package web_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/web"
)

const (
	chatLine = `{"messages":[{"role":"user","content":"How are you?"},{"role":"assistant","content":"Well."}]}`
	badChat  = chatLine + "\n{\"messages\":\n" + `{"messages":[{"role":"user","content":"And you?"},{"role":"assistant","content":"Well, too."}]}` + "\n"
)

// uploaded is a file of an upload.
type uploaded struct{ name, text string }

// upload sends files as the form of the import page does.
func upload(h http.Handler, token string, list []uploaded, header ...string) *httptest.ResponseRecorder {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	if token != "" {
		w.WriteField("form", token)
	}
	w.WriteField("format", "auto")
	for _, f := range list {
		part, _ := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {`form-data; name="file"; filename="` + strings.ReplaceAll(f.name, `"`, `\"`) + `"`}})
		part.Write([]byte(f.text))
	}
	w.Close()
	r := httptest.NewRequest("POST", "/import", &body)
	r.Host = "127.0.0.1:7778"
	r.Header.Set("Content-Type", w.FormDataContentType())
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
			continue
		}
		r.Header.Set(header[i], header[i+1])
	}
	out := httptest.NewRecorder()
	h.ServeHTTP(out, r)
	return out
}

// importViewer is a viewer of an empty database that can be written.
func importViewer(t *testing.T) (*store.DB, web.Options) {
	db := openStore(t, nil)
	o := options(db)
	o.Update = db.Update
	return db, o
}

// tookIn uploads files and gives the page that tells what became of them.
func tookIn(t *testing.T, h http.Handler, list ...uploaded) page {
	t.Helper()
	w := upload(h, hidden(t, open(t, h, "/import")), list)
	if w.Code != http.StatusSeeOther || !strings.HasPrefix(w.Header().Get("Location"), "/import/") {
		t.Fatalf("status %d, to %s: %s", w.Code, w.Header().Get("Location"), w.Body)
	}
	p := open(t, h, w.Header().Get("Location"))
	for _, bad := range markup(p) {
		t.Error(bad)
	}
	return p
}

func exchangesIn(t *testing.T, db *store.DB) int {
	t.Helper()
	n := 0
	for _, err := range db.Exchanges(t.Context(), transcript.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

func TestImport_TakesFilesInAndTellsWhatBecameOfThem(t *testing.T) {
	db, o := importViewer(t)
	h := web.New(o)
	wantText(t, open(t, h, "/"), "Import", "inspect import")
	p := tookIn(t, h, uploaded{"train.jsonl", badChat}, uploaded{"notes.txt", "no transcript"})
	wantText(t, p, "train.jsonl", "openai-chat", "2 exchanges", "2 new", "rebuilt", "2 runs", "r1", "1 left out", "2: ", "notes.txt", "in no format that is known")
	if n := exchangesIn(t, db); n != 2 {
		t.Errorf("%d exchanges are stored, want 2", n)
	}
	wantText(t, tookIn(t, h, uploaded{"train.jsonl", badChat}), "nothing new: all of it was there")
	if n := exchangesIn(t, db); n != 2 {
		t.Errorf("a second time: %d exchanges are stored, want 2", n)
	}
	if w := ask(h, "GET", "/import/99"); w.Code != http.StatusNotFound {
		t.Errorf("no such import: status %d", w.Code)
	}
}

func TestImport_NamesOfFilesAreNoPathsAndNoMarkup(t *testing.T) {
	_, o := importViewer(t)
	h := web.New(o)
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"../../../etc/passwd", `..\..\evil.jsonl`, "<img src=x onerror=alert(1)>.jsonl", "safe\u202Egnp.jsonl", strings.Repeat("n", 5000) + ".jsonl", "..", "\xff\xfe.jsonl"} {
		p := tookIn(t, h, uploaded{name, chatLine})
		if text := p.text(); strings.Contains(text, "..\\") || strings.Contains(text, "../") || strings.ContainsAny(text, "\u202E\x00") || len(text) > 3000 {
			t.Errorf("%.40q is told as %q", name, text)
		}
	}
	if made, err := os.ReadDir(dir); err != nil || len(made) > 0 {
		t.Errorf("files were made: %v, %v", made, err)
	}
}

func TestImport_IsBounded(t *testing.T) {
	db, o := importViewer(t)
	o.MostImport = 4000
	h := web.New(o)
	wantText(t, open(t, h, "/import"), "at most 4.0 kB at once")
	p := tookIn(t, h, uploaded{"long.jsonl", strings.Repeat(chatLine+"\n", 200)})
	wantText(t, p, "More than 4.0 kB cannot be uploaded at once")
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "retake-import-*")); err != nil || len(left) > 0 {
		t.Errorf("scratch files are left: %v, %v", left, err)
	}
	if n := exchangesIn(t, db); n > 1 {
		t.Errorf("%d exchanges of one line", n)
	}
}

func TestImport_IsRefusedFromElsewhere(t *testing.T) {
	db, o := importViewer(t)
	o.AllowOrigins = []string{"https://tools.example"}
	h := web.New(o)
	token, list := hidden(t, open(t, h, "/import")), []uploaded{{"a.jsonl", chatLine}}
	for name, w := range map[string]*httptest.ResponseRecorder{
		"no token":      upload(h, "", list),
		"wrong token":   upload(h, "guess", list),
		"other origin":  upload(h, token, list, "Origin", "https://evil.example"),
		"may only read": upload(h, token, list, "Origin", "https://tools.example"),
		"other site":    upload(h, token, list, "Sec-Fetch-Site", "cross-site"),
		"other host":    upload(h, token, list, "Host", "evil.example"),
		"no upload":     upload(h, token, list, "Content-Type", "application/x-www-form-urlencoded"),
		"only a reader": upload(web.New(options(db)), token, list),
	} {
		if w.Code != http.StatusForbidden {
			t.Errorf("%s: status %d", name, w.Code)
		}
	}
	if n := exchangesIn(t, db); n != 0 {
		t.Errorf("%d exchanges were taken in", n)
	}
	if w := upload(h, token, nil); w.Code != http.StatusUnprocessableEntity {
		t.Errorf("no file: status %d", w.Code)
	}
	wantText(t, open(t, web.New(options(db)), "/import"), "This viewer only shows")
}

func TestBrowser_FilesAreDroppedOnTheListOfRuns(t *testing.T) {
	_, o := importViewer(t)
	o.MostImport = 1 << 20
	b := startBrowser(t, o)
	b.open("/")
	drop := func(text string) {
		eval[bool](b, fmt.Sprintf(`(() => {
			const data = new DataTransfer();
			data.items.add(new File([%s], "train.jsonl", {lastModified: 1700000000000}));
			return document.body.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true})) || true;
		})()`, text))
	}
	drop(quote(badChat))
	b.do(chromedp.WaitReady(chromedp.CSS(".imported")))
	if got := eval[string](b, `document.querySelector(".imported").innerText`); !strings.Contains(got, "2 new") || !strings.Contains(got, "1 left out") {
		t.Errorf("the page tells %q", got)
	}
	b.open("/import")
	drop(`"x".repeat(3 << 20)`)
	b.do(chromedp.WaitReady(chromedp.CSS("dialog.upload")))
	b.do(chromedp.WaitReady(chromedp.CSS("dialog.upload.failed")))
	if got := eval[string](b, `document.querySelector("dialog.upload [role=status]").innerText`); !strings.Contains(got, "more than can be uploaded") {
		t.Errorf("a large file: %q", got)
	}
	b.quiet()
}

// A zip archive is taken in as the files in it; what is no transcript is told by name.
func TestImport_TakesZipArchivesIn(t *testing.T) {
	var text bytes.Buffer
	z := zip.NewWriter(&text)
	for name, content := range map[string]string{"s/a.jsonl": badChat, "../b.jsonl": strings.Replace(chatLine, "How are you?", "Who are you?", 1), "<b>notes</b>.txt": "no transcript"} {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		w.Write([]byte(content))
	}
	z.Close()
	db, o := importViewer(t)
	h := web.New(o)
	p := tookIn(t, h, uploaded{"all.zip", text.String()}, uploaded{"c.jsonl", strings.Replace(chatLine, "How are you?", "Where are you?", 1)})
	wantText(t, p, "all.zip", "zip, 2 files", "3 exchanges", "3 runs", "1 left out", "s/a.jsonl: 2: ", "1 file in it left out", "<b>notes</b>.txt: it is in no format that is known", "c.jsonl")
	if n := exchangesIn(t, db); n != 4 {
		t.Errorf("%d exchanges are stored, want 4", n)
	}
	wantText(t, tookIn(t, h, uploaded{"cut.zip", text.String()[:text.Len()-30]}), "Its list of files cannot be read")
}
