package retake_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/retake-debugger/retake"
	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/dialect/dialecttest"
	"github.com/retake-debugger/retake/dialect/dialecttest/toy"
	"github.com/retake-debugger/retake/files"
	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/replay/mock"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

const (
	toyCall   = `{"who":"model","id":"add-1","call":"add","with":{"x":1, "y":1}}`
	toyFirst  = `{"toy":true, "model":"t1","turns":[{"who":"user","says":"How much is one and one?"}]}`
	toySecond = `{"toy":true, "model":"t1","turns":[{"who":"user","says":"How much is one and one?"},` + toyCall + `, {"who":"tool", "id":"add-1", "back":"seventeen marbles"}]}`
)

// toyModel calls a tool, and says what came back.
type toyModel struct {
	mu   sync.Mutex
	last string // request
}

func (m *toyModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m.mu.Lock()
	m.last = string(body)
	m.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if !bytes.Contains(body, []byte(`"back"`)) {
		io.WriteString(w, `{"toy":true,"turns":[`+toyCall+`]}`)
		return
	}
	io.WriteString(w, `{"toy":true,"turns":[{"who":"model","says":"So many."}]}`)
}

func (m *toyModel) got() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last
}

func toyPost(t *testing.T, client *http.Client, url, body string) string {
	t.Helper()
	resp, err := client.Post(url+"/v1/toy", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%d %s, %v", resp.StatusCode, answer, err)
	}
	return string(answer)
}

// An API is added by one folder and one line.
func TestAPI_OfOneFolderAndOneLine(t *testing.T) {
	dialecttest.Add(t, &toy.API) // the line

	ctx := t.Context()
	model := &toyModel{}
	server := httptest.NewServer(model)
	t.Cleanup(server.Close)
	db, err := retake.Open(ctx, filepath.Join(t.TempDir(), "t.db"), retake.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	client := &http.Client{Transport: db.Transport(nil)}
	toyPost(t, client, server.URL, toyFirst)
	answer := toyPost(t, client, server.URL, toySecond)
	if err := db.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	store := db.Store()
	second, err := view.Resolve(ctx, store, "r1.2")
	if err != nil {
		t.Fatal(err)
	}

	t.Run("recorded", func(t *testing.T) {
		run, err := db.Run(ctx, "last")
		if err != nil {
			t.Fatal(err)
		}
		if len(run.Agents) != 1 || len(run.Agents[0].Steps) != 2 {
			t.Errorf("agents %+v", run.Agents)
		}
		if second.Dialect != toy.API.Name || second.Model != "t1" {
			t.Errorf("dialect %s, model %s", second.Dialect, second.Model)
		}
		if len(run.Pairs) != 1 || run.Pairs[0].State != transcript.Paired || run.Pairs[0].Name != "add" {
			t.Errorf("pairs %+v", run.Pairs)
		}
	})
	t.Run("shown", func(t *testing.T) {
		shown, err := view.NewTranscript(ctx, store, second)
		if err != nil {
			t.Fatal(err)
		}
		var kinds []transcript.Kind
		for _, e := range shown.Entries {
			kinds = append(kinds, e.Item.Kind)
		}
		if in := shown.Exchange.Input; len(in) != 3 || in[2].Text != "seventeen marbles" || len(kinds) < 3 || !slices.Contains(kinds, transcript.ToolCall) {
			t.Errorf("input %+v, entries %v", in, kinds)
		}
	})
	t.Run("linted", func(t *testing.T) {
		x, err := db.Exchange(ctx, "r1.2")
		if err != nil {
			t.Fatal(err)
		}
		own := func(f lint.Finding) bool { return strings.Contains(f.Message, "single letters") }
		if !slices.ContainsFunc(x.Lint, own) {
			t.Errorf("findings %+v", x.Lint)
		}
		if found := view.LintRequest(toy.API.Name, []byte(toySecond)); !slices.ContainsFunc(found, own) {
			t.Errorf("findings of the bytes alone %+v", found)
		}
	})
	t.Run("edited", func(t *testing.T) {
		edit := transcript.Edit{Op: transcript.SetResult, CallID: "add-1", Text: "two"}
		take, err := db.Replay(ctx, "r1.2", replay.Plan{Edits: []transcript.Edit{edit}})
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.Replace(toySecond, "seventeen marbles", "two", 1); model.got() != want || take.FinalText != "So many." {
			t.Errorf("sent %s\nwant %s\nanswer %q", model.got(), want, take.FinalText)
		}
	})
	t.Run("continued", func(t *testing.T) {
		take, err := db.Replay(ctx, "r1.1", replay.Plan{})
		if err != nil {
			t.Fatal(err)
		}
		if len(take.Steps) != 2 || !strings.Contains(model.got(), `"back":"seventeen marbles"`) {
			t.Errorf("steps %v, sent %s", take.Steps, model.got())
		}
	})
	t.Run("exported", func(t *testing.T) {
		want := map[string]string{"jsonl": `"dialect":"toy"`, "markdown": "seventeen marbles", "openai-chat": `"content":"seventeen marbles"`, "anthropic": `"tool_result"`}
		for _, form := range files.Forms() {
			if want[form.Name] == "" {
				continue
			}
			var out strings.Builder
			x := &files.Export{Reader: store, Chosen: []files.Chosen{{Ref: "r1.2", Exchange: second}},
				Left: func(_ string, err error) error { return err }, Note: func(string) {}, Progress: func(string, int64, int64) {}}
			if err := x.Write(ctx, &form, &out); err != nil || !strings.Contains(out.String(), want[form.Name]) {
				t.Errorf("%s: %v, %s", form.Name, err, out.String())
			}
			delete(want, form.Name)
		}
		if len(want) > 0 {
			t.Errorf("no forms %v", want)
		}
	})
	t.Run("converted", func(t *testing.T) {
		if dialect.RecogniseRequest([]byte(toySecond)) != toy.API.Name {
			t.Error("its body alone is not recognised")
		}
		to := dialect.APIs[0].Name
		body, _, err := dialect.Convert(toy.API.Name, to, []byte(toySecond))
		if err != nil {
			t.Fatal(err)
		}
		turn := dialect.Decode(to, &dialect.Wire{Request: body})
		if n := len(turn.Input); n != 3 || turn.Input[1].Name != "add" || turn.Input[2].Text != "seventeen marbles" {
			t.Errorf("%s", body)
		}
	})
	t.Run("mocked", func(t *testing.T) {
		recordings := mock.NewRecordings(store, mock.Masks())
		if err := recordings.Add(ctx, second); err != nil {
			t.Fatal(err)
		}
		stub := httptest.NewServer(&mock.Handler{Recordings: recordings})
		defer stub.Close()
		if got := toyPost(t, http.DefaultClient, stub.URL, toySecond); got != answer {
			t.Errorf("answer %s, want %s", got, answer)
		}
	})
	t.Run("searched", func(t *testing.T) {
		found, err := view.Find(ctx, store, view.Search{SearchQuery: transcript.SearchQuery{Text: "marbles"}})
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Hits) == 0 || found.Hits[0].Kind != transcript.ToolResult || found.Hits[0].At != "/turns/2" {
			t.Errorf("hits %+v", found.Hits)
		}
	})
}
