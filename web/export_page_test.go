package web_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/files"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/web"
)

func TestExport_ShowsWhatIsLeftOutBeforeItIsFetched(t *testing.T) {
	h := web.New(options(runStore(t)))
	wantText(t, open(t, h, "/r/1/export"), "Take r1 elsewhere", "few-shot")
	if strings.Contains(open(t, h, "/r/1/export").text(), "curl") {
		t.Error("a run is offered as the program of one request")
	}
	p := open(t, h, "/r/1/export?format=openai-chat")
	wantText(t, p, "Download", "Left out", "read_file")
	for _, bad := range markup(p) {
		t.Error(bad)
	}
	w := ask(h, "GET", "/r/1/export?format=openai-chat&fetch=1")
	if got := w.Header().Get("Content-Disposition"); got != `attachment; filename="r1.jsonl"` {
		t.Errorf("Content-Disposition %q", got)
	}
	lines := strings.Split(strings.TrimSpace(w.Body.String()), "\n")
	for _, line := range lines {
		var v struct{ Messages []any }
		if err := json.Unmarshal([]byte(line), &v); err != nil || len(v.Messages) < 2 {
			t.Errorf("line %.80q: %v", line, err)
		}
	}
	if len(lines) != 3 {
		t.Errorf("%d conversations, want 3: two agents and a branch", len(lines))
	}
}

func TestExport_EachFormIsWritten(t *testing.T) {
	h := web.New(options(runStore(t)))
	for _, format := range []string{"html", "markdown", "few-shot", "openai-chat", "openai-responses", "anthropic", "sharegpt", "jsonl", "har", "otlp-json", "csv", "archive"} {
		if w := ask(h, "GET", "/r/1/export?fetch=1&redact=1&format="+format); w.Code != 200 || w.Body.Len() < 100 {
			t.Errorf("%s of a run: status %d, %d bytes", format, w.Code, w.Body.Len())
		}
	}
	for _, format := range []string{"curl", "python", "go", "markdown"} {
		w := ask(h, "GET", "/x/3/export?fetch=1&format="+format)
		if w.Code != 200 || !strings.Contains(w.Body.String(), "next()") {
			t.Errorf("%s of an exchange: status %d", format, w.Code)
		}
	}
	for target, status := range map[string]int{"/r/1/export?format=../../etc": 400, "/r/99/export": 404, "/x/99/export": 404, "/r/1/export?format=curl": 400} {
		if w := ask(h, "GET", target); w.Code != status {
			t.Errorf("%s: status %d, want %d", target, w.Code, status)
		}
	}
	unfinished := web.New(options(sampleStore(t)))
	p := parse(t, ask(unfinished, "GET", "/x/5/export?format=openai-chat").Body.String())
	if p.text() == "" || !strings.Contains(p.text(), "nfinished") {
		t.Error("an unfinished conversation is not told as such")
	}
}

func TestExport_ManyAtOnceAndEverything(t *testing.T) {
	h := web.New(options(openStore(t, twoRuns())))
	p := open(t, h, "/export?ref=r1&ref=r2&format=openai-chat")
	wantText(t, p, "2 at once", "Download")
	w := ask(h, "GET", "/export?ref=r1&ref=r2&format=openai-chat&fetch=1")
	if got := w.Header().Get("Content-Disposition"); got != `attachment; filename="retake-2.jsonl"` {
		t.Errorf("Content-Disposition %q", got)
	}
	if n := strings.Count(w.Body.String(), "\n"); n != 2 {
		t.Errorf("%d conversations, want 2", n)
	}
	wantText(t, open(t, h, "/export?format=archive"), "everything that is stored", "Download", "compressed")
	if w := ask(h, "GET", "/export?format=jsonl&fetch=1"); strings.Count(w.Body.String(), "\n") != 4 {
		t.Errorf("everything: %s", w.Body)
	}
	for target, status := range map[string]int{"/export?ref=r9&format=har": 404, "/export?ref=" + url.QueryEscape(payload): 404, "/export?ref=r1&ref=r2&format=curl": 400, "/export?ref=x1&format=curl&fetch=1": 200,
		"/export?" + strings.Repeat("ref=r1&", 400): 200, "/export?" + strings.Repeat("ref=r1&", 401): 400} {
		w := ask(h, "GET", target)
		if w.Code != status {
			t.Errorf("%.60s: status %d, want %d", target, w.Code, status)
		}
		if status != 200 {
			for _, bad := range markup(parse(t, w.Body.String())) {
				t.Error(bad)
			}
		}
	}
}

func TestExport_AnArchiveIsTakenInAgain(t *testing.T) {
	h := web.New(options(openStore(t, twoRuns())))
	w := ask(h, "GET", "/export?format=archive&fetch=1")
	_, o := importViewer(t)
	again := web.New(o)
	wantText(t, tookIn(t, again, uploaded{"retake.archive", w.Body.String()}), "archive", "4 exchanges", "4 new", "exact", "2 runs")
	wantText(t, tookIn(t, again, uploaded{"retake.archive", w.Body.String()}), "nothing new")
}

func TestExport_ExamplesHaveOptions(t *testing.T) {
	h := web.New(options(runStore(t)))
	python := ask(h, "GET", "/x/3/export?format=few-shot&as=python&system=1&fetch=1")
	if got := python.Header().Get("Content-Disposition"); got != `attachment; filename="x3.py"` || !strings.HasPrefix(python.Body.String(), "messages = ") {
		t.Errorf("python: %q, %.60s", got, python.Body)
	}
	wantText(t, open(t, h, "/x/3/export?format=few-shot&as=markdown&words=1&steps=1"), "### User", "### Assistant")
	for _, query := range []string{"steps=x", "steps=1-99999999", "as=exe", "api=soap", "max_tokens=many", "max_result=-1", "steps=" + url.QueryEscape(payload)} {
		w := ask(h, "GET", "/x/3/export?format=few-shot&"+query)
		p := parse(t, w.Body.String())
		if w.Code != 422 || !strings.Contains(w.Body.String(), `role="alert"`) {
			t.Errorf("%s: status %d", query, w.Code)
		}
		for _, bad := range markup(p) {
			t.Error(bad)
		}
	}
}

func TestExport_LeavesSecretsOutOfWhatWasChosen(t *testing.T) {
	const secret = "ada.lovelace@analytical.example"
	c := capture(1, "/v1/chat/completions", 200, `{"model":"gpt-test","messages":[{"role":"user","content":"Write to `+secret+`"}]}`,
		`{"id":"c","object":"chat.completion","model":"gpt-test","choices":[{"index":0,"message":{"role":"assistant","content":"Done: `+secret+`"},"finish_reason":"stop"}]}`)
	h := web.New(options(openStore(t, []*transcript.Capture{c})))
	for _, f := range files.Forms() {
		if f.Name == "archive" {
			continue // compressed; its bodies are those of the reader
		}
		for _, target := range []string{"/x/1/export", "/r/1/export", "/export?ref=x1"} {
			target += map[bool]string{true: "&", false: "?"}[strings.Contains(target, "?")] + "fetch=1&redact=1&format=" + f.Name
			w := ask(h, "GET", target)
			if strings.Contains(w.Body.String(), secret) || w.Code != 200 && !f.One {
				t.Errorf("%s: status %d, the secret is in it: %t", target, w.Code, strings.Contains(w.Body.String(), secret))
			}
		}
	}
}
