package web_test

import (
	"encoding/json"
	"strings"
	"testing"

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
	for _, format := range []string{"html", "markdown", "few-shot", "openai-chat", "openai-responses", "anthropic", "sharegpt", "jsonl"} {
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
