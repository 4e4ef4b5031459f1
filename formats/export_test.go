package formats_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/formats"
	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

var update = flag.Bool("update", false, "write golden files anew")

// readCase reads an exchange of testdata/export as its conversation.
func readCase(t testing.TB, dir string) *formats.Conversation {
	t.Helper()
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	d := transcript.Dialect(strings.TrimSpace(string(read("dialect"))))
	turn := dialect.Decode(d, &dialect.Wire{Method: "POST", Status: 200, Request: read("request.json"), Response: read("response.json")})
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	e := &transcript.Exchange{ID: "0190a000-0000-7000-8000-000000000001", N: 1, StartedAt: at, EndedAt: at.Add(time.Second), Method: "POST", URL: "https://api.example.com/v1/x?a=%20b&a=c",
		Status: 200, Outcome: transcript.OK, Complete: turn.Complete, Dialect: d, Model: turn.Model, ResponseModel: turn.ResponseModel, ResponseID: turn.ResponseID, FinishReason: turn.FinishReason, Usage: turn.Usage,
		Request:  transcript.Message{Headers: map[string][]string{"Content-Type": {"application/json"}, "Authorization": {"Bearer [redacted] fp:00000000"}}},
		Response: transcript.Message{Headers: map[string][]string{"Content-Type": {"application/json"}, "X-Evil": {"</script><script>alert(3)</script>"}}},
		Timing:   transcript.Timing{FirstByte: 200 * time.Millisecond, Duration: time.Second}, Link: transcript.Link{Run: "0190a000-0000-7000-8000-00000000000a"}}
	c, err := formats.NewConversation(t.Context(), nil, e, func(*transcript.Exchange) (*transcript.Turn, error) { return turn, nil })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func exportCases(t testing.TB) []string {
	t.Helper()
	dirs, err := filepath.Glob("testdata/export/*/dialect")
	if err != nil || len(dirs) < 5 {
		t.Fatal(dirs, err)
	}
	for i := range dirs {
		dirs[i] = filepath.Dir(dirs[i])
	}
	return dirs
}

type writer func(io.Writer, *formats.Conversation, *formats.Losses) error

func shot(f formats.FewShot) writer {
	return func(w io.Writer, c *formats.Conversation, l *formats.Losses) error {
		g := f
		if g.API == "" {
			g.API = c.Exchange.Dialect
		}
		return g.Write(w, c, l)
	}
}

func otlp(w io.Writer, c *formats.Conversation, l *formats.Losses) error {
	o := formats.NewOTLP(w, l)
	if err := o.Run(&transcript.RunSum{Run: transcript.Run{ID: c.Exchange.Link.Run, StartedAt: c.Exchange.StartedAt}, EndedAt: c.Exchange.StartedAt, Topic: c.Title}); err != nil {
		return err
	}
	if err := o.Chat(c, c.Exchange.Link.Run); err != nil {
		return err
	}
	for i := range c.Items {
		if it := &c.Items[i]; it.Kind == transcript.ToolCall {
			if err := o.Tool(c.Exchange, it, &transcript.Item{Text: "r", IsError: true}, c.Exchange.EndedAt.Add(time.Second)); err != nil {
				return err
			}
		}
	}
	return o.Close()
}

func har(w io.Writer, c *formats.Conversation, l *formats.Losses) error {
	h := formats.NewHAR(w, "test", l)
	for _, b := range [][]byte{[]byte(c.Title), {0xff, 0}} {
		if err := h.Add(c.Exchange, formats.Bodies{Request: b, Response: b}); err != nil {
			return err
		}
	}
	return h.Close()
}

var writers = map[string]writer{
	"openai-chat": formats.OpenAIChat, "openai-responses": formats.OpenAIResponses, "anthropic": formats.Anthropic, "sharegpt": formats.ShareGPT,
	"markdown": formats.Markdown, "few-shot": shot(formats.FewShot{}), "few-shot-python": shot(formats.FewShot{As: "python", System: true}),
	"few-shot-words": shot(formats.FewShot{As: "markdown", Words: true}), "few-shot-chat": shot(formats.FewShot{API: transcript.Chat, Words: true}),
	"html": func(w io.Writer, c *formats.Conversation, l *formats.Losses) error {
		return formats.HTML(w, c.Title, []*formats.Conversation{c}, l)
	},
	"otlp-json": otlp, "har": har,
}

func TestExport_Golden(t *testing.T) {
	for _, dir := range exportCases(t) {
		for name, write := range writers {
			t.Run(filepath.Base(dir)+"/"+name, func(t *testing.T) {
				var out bytes.Buffer
				var lost formats.Losses
				if err := write(&out, readCase(t, dir), &lost); err != nil {
					out.WriteString("error: " + err.Error() + "\n")
				}
				if list := lost.List(); len(list) > 0 {
					out.WriteString("\nleft out:\n" + strings.Join(list, "\n") + "\n")
				}
				file := filepath.Join(dir, "want."+name)
				if *update {
					if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), out.String()); diff != "" {
					t.Errorf("differs (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// A published case: what a trainer takes for a run with calls at once whose
// results came out of order.
func TestOpenAIChat_Case(t *testing.T) {
	const dir = "../../shared/cases/inputs/D-EXP-01/"
	want, err := os.ReadFile(dir + "expected.jsonl")
	if err != nil {
		t.Skip("the published cases are not here:", err)
	}
	var out bytes.Buffer
	if err := formats.OpenAIChat(&out, readCase(t, "testdata/export/parallel"), &formats.Losses{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(canonical(t, want), canonical(t, out.Bytes())); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
	if strings.Count(out.String(), "\n") != 1 || !strings.HasSuffix(out.String(), "}\n") {
		t.Errorf("no single line: %q", out.String())
	}
}

// What is put before a question, and what is trained on, is taken by providers.
func TestExport_IsLintClean(t *testing.T) {
	for _, dir := range exportCases(t) {
		c := readCase(t, dir)
		for _, api := range []transcript.Dialect{transcript.Chat, transcript.Messages} {
			var out bytes.Buffer
			if err := (formats.FewShot{API: api}).Write(&out, c, &formats.Losses{}); err != nil {
				t.Fatal(err)
			}
			checkRequest(t, dir+" few-shot", api, `{"model":"m","max_tokens":9,"messages":`+strings.TrimSuffix(strings.TrimSpace(out.String()), "]")+`,{"role":"user","content":"And now?"}]}`)
		}
		for api, write := range map[transcript.Dialect]writer{transcript.Chat: formats.OpenAIChat, transcript.Messages: formats.Anthropic} {
			var out bytes.Buffer
			if err := write(&out, c, &formats.Losses{}); err != nil {
				t.Fatal(err)
			}
			if c.OpenCalls() == 0 {
				checkRequest(t, dir+" training", api, `{"model":"m","max_tokens":9,`+strings.TrimPrefix(out.String(), "{"))
			}
		}
	}
}

func checkRequest(t *testing.T, name string, d transcript.Dialect, body string) {
	t.Helper()
	if !json.Valid([]byte(body)) {
		t.Fatalf("%s %s: no JSON: %s", name, d, body)
	}
	turn := dialect.Decode(d, &dialect.Wire{Method: "POST", Request: []byte(body)})
	for _, f := range lint.Exchange(lint.Step{Exchange: &transcript.Exchange{Dialect: d}, Turn: turn}, nil) {
		if f.Severity == lint.Error {
			t.Errorf("%s %s: %s at %s: %s", name, d, f.Code, f.At, f.Message)
		}
	}
}

func TestHTML_NothingBecomesMarkup(t *testing.T) {
	const payload = "</script><script>alert(1)</script><!--<img src=x onerror=alert(2)>\u2028&lt;b&gt;"
	c := readCase(t, "testdata/export/hostile")
	c.Title, c.Exchange.Model, c.Exchange.ResponseModel, c.Exchange.Error = payload, payload, payload, &transcript.Error{Type: payload, Message: payload}
	var out bytes.Buffer
	if err := formats.HTML(&out, payload, []*formats.Conversation{c}, &formats.Losses{}); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if n := strings.Count(text, "</script"); n != 1 {
		t.Errorf("%d closing script tags, the page has one", n)
	}
	if n := strings.Count(text, "<script"); n != 1 {
		t.Errorf("%d script tags, the page has one", n)
	}
	if strings.Contains(text, "<img") || strings.Contains(text, "<!--") {
		t.Error("a payload became markup")
	}
	_, data, _ := strings.Cut(text, `id="transcript">`)
	data, _, _ = strings.Cut(data, "</script>")
	var back struct {
		Title         string
		Conversations []struct {
			Messages []struct {
				Content []struct {
					Text, Label string
					Result      *string
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(data), &back); err != nil {
		t.Fatal(err)
	}
	said := 0
	for _, m := range back.Conversations[0].Messages {
		for _, p := range m.Content {
			for _, s := range []string{p.Text, p.Label} {
				if s == payload {
					said++
				}
			}
			if p.Result != nil && *p.Result == payload {
				said++
			}
		}
	}
	if back.Title != payload || said != 4 { // user, answer, name of the tool, result
		t.Errorf("the payload comes back %d times, title %q", said, back.Title)
	}
}

func TestUnfinished_IsRefusedByTrainingData(t *testing.T) {
	for name, write := range map[string]writer{"openai-chat": formats.OpenAIChat, "anthropic": formats.Anthropic, "openai-responses": formats.OpenAIResponses,
		"sharegpt": formats.ShareGPT, "few-shot": shot(formats.FewShot{})} {
		c := readCase(t, "testdata/export/parallel")
		c.Exchange.Outcome, c.Exchange.Complete = transcript.UpstreamReset, false
		if err := write(io.Discard, c, &formats.Losses{}); err == nil || !strings.Contains(err.Error(), "upstream_reset") {
			t.Errorf("%s: %v", name, err)
		}
	}
	c := readCase(t, "testdata/export/parallel")
	c.Exchange.Complete = false
	var out bytes.Buffer
	if err := formats.Markdown(&out, c, &formats.Losses{}); err != nil || !strings.Contains(out.String(), "Unfinished") {
		t.Error(err, out.String())
	}
}

func TestFewShot_ChosenSteps(t *testing.T) {
	var out bytes.Buffer
	c := readCase(t, "testdata/export/pictures")
	if err := (formats.FewShot{Steps: []int{3}}).Write(&out, c, &formats.Losses{}); err != nil {
		t.Fatal(err)
	}
	var list []struct{ Role string }
	if err := json.Unmarshal(out.Bytes(), &list); err != nil || len(list) != 3 || list[2].Role != "assistant" {
		t.Error(err, out.String())
	}
	if err := (formats.FewShot{Steps: []int{9}}).Write(io.Discard, c, &formats.Losses{}); err == nil {
		t.Error("a step that is not there is taken")
	}
}

func TestCut_MarksWhatIsLeftOut(t *testing.T) {
	c := readCase(t, "testdata/export/parallel")
	long := strings.Repeat("é", 5000)
	for i := range c.Items {
		if c.Items[i].Kind == transcript.ToolResult {
			c.Items[i].Text = long
		}
	}
	if n := c.Cut(100); n != 2 {
		t.Errorf("%d cut", n)
	}
	var out bytes.Buffer
	if err := formats.OpenAIChat(&out, c, &formats.Losses{}); err != nil {
		t.Fatal(err)
	}
	if out.Len() > 1500 || !strings.Contains(out.String(), "bytes left out") || strings.Contains(out.String(), "\ufffd") {
		t.Error(out.String())
	}
}

func TestFit_DropsWholeRounds(t *testing.T) {
	c := readCase(t, "testdata/export/parallel")
	base := c.Items
	items := base[:2:2]
	for range 50 {
		items = append(items, base[2:7]...)
	}
	items = append(items, base[7:]...)
	c = c.With(items)
	c.Exchange.Usage = nil
	did := c.Fit(120)
	var out bytes.Buffer
	var lost formats.Losses
	if err := formats.OpenAIChat(&out, c, &lost); err != nil {
		t.Fatal(err)
	}
	if did == "" || out.Len() > 2500 || len(lost.List()) > 1 {
		t.Errorf("did %q, %d bytes, lost %v", did, out.Len(), lost.List())
	}
	checkRequest(t, "fit", transcript.Chat, `{"model":"m",`+strings.TrimPrefix(out.String(), "{"))
}

func canonical(t *testing.T, raw []byte) string {
	t.Helper()
	c, err := rawjson.Canonical(raw)
	if err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	pretty, _ := json.MarshalIndent(json.RawMessage(c), "", " ")
	return string(pretty)
}
