package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/retake-debugger/retake"
	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/web"
)

// planModel answers with a text and keeps the requests.
type planModel struct {
	mu     sync.Mutex
	bodies []string
}

func (m *planModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bodies = append(m.bodies, string(body))
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, `{"object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"done"},"finish_reason":"stop"}]}`)
}

const planRequest = `{ "model":"m", "messages":[{"role":"system","content":"Be long."}, {"role":"user","content":"Weather?"},
 {"role":"assistant","content":null,"tool_calls":[{"id":"call_abc","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]},
 {"role":"tool","tool_call_id":"call_abc","content":"rain"}] }`

// Flags, a form and Go code make the same plan: the same edits, and the same bytes on the
// wire.
func TestPlan_FlagsFormAndGoSendTheSameBytes(t *testing.T) {
	ctx, model := t.Context(), &planModel{}
	server := httptest.NewServer(model)
	defer server.Close()
	path := filepath.Join(t.TempDir(), "t.db")
	recordPlanRequest(t, path, server.URL)

	edits := []transcript.Edit{
		{Op: transcript.SetModel, Text: "m2"}, {Op: transcript.SetParam, Text: "temperature", Value: json.RawMessage("0")},
		{Op: transcript.SetSystem, Text: "Be brief."}, {Op: transcript.SetResult, CallID: "l_ab", Text: "snow"}, // a part of the id will do
	}
	status, _, errs := invoke(t, map[string]string{"RETAKE_DB": path}, "replay", "x1", "--set-result", "l_ab=snow", "--model", "m2", "--param", "temperature=0", "--set-system", "Be brief.", "--max-steps", "7")
	if status != 0 {
		t.Fatalf("by flags: %d %s", status, errs)
	}

	w, err := retake.Open(ctx, path, retake.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	h := web.New(web.Options{Reader: w.Store(), Update: w.Store().Update, Now: time.Now, Replaying: &web.Replaying{Key: func(string) string { return "" }, Player: func() *replay.Player { return w.Player() }}})
	form := url.Values{"mode": {"continue"}, "model": {"m2"}, "system": {"Be brief."}, "params": {"temperature=0"}, "id.0": {"call_abc"}, "result.0": {"snow"}, "max_steps": {"7"}}
	playForm(t, h, "/x/1/replay", form)

	origin, err := w.Store().ExchangeN(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	plan := replay.Plan{Origin: origin, Edits: edits, Limits: replay.Limits{Steps: 7}}
	ready, err := plan.Prepare(ctx, w.Store())
	if err != nil {
		t.Fatal(err)
	}
	planned := string(ready.Request.Body)
	if _, err := ready.Play(ctx, w.Player(), nil); err != nil {
		t.Fatal(err)
	}

	var kept []string
	for n := range int64(3) {
		take := waitForTake(t, w.Store(), n+1)
		var made []transcript.Edit
		if err := json.Unmarshal([]byte(take.Edits), &made); err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(made, func(a, b transcript.Edit) int { return strings.Compare(a.Op, b.Op) }) // a form has its own order
		text, _ := json.Marshal(made)
		kept = append(kept, string(text))
	}
	if kept[0] != kept[1] || kept[0] != kept[2] || !strings.Contains(kept[0], "call_abc") {
		t.Errorf("the edits differ:\n%s", strings.Join(kept, "\n"))
	}
	if len(model.bodies) != 3 {
		t.Fatalf("%d requests were sent", len(model.bodies))
	}
	for i, body := range model.bodies {
		if body != planned {
			t.Errorf("request %d is\n%s\nnot\n%s", i, body, planned)
		}
	}
}

func recordPlanRequest(t *testing.T, path, server string) {
	t.Helper()
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	recorded := &transcript.Capture{ID: "0190a000-0000-7000-8000-000000000001", StartedAt: at, EndedAt: at, Method: "POST", URL: server + "/v1/chat/completions", Status: 200, Outcome: transcript.OK,
		Request: fileBody(planRequest), Response: fileBody(`{"object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"It rains."},"finish_reason":"stop"}]}`)}
	if _, err := ingest.Commit(t.Context(), db, []*transcript.Capture{recorded}); err != nil {
		t.Fatal(err)
	}
}

// playForm has the plan of a form shown, and sends it.
func playForm(t *testing.T, h http.Handler, path string, form url.Values) {
	t.Helper()
	do := func(r *http.Request) string {
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, r)
		return answer.Body.String()
	}
	value := func(page, name string) string {
		m := regexp.MustCompile(`name="` + name + `" value="([^"]*)"`).FindStringSubmatch(page)
		if m == nil {
			t.Fatalf("no %s in %s", name, page)
		}
		return m[1]
	}
	post := func() string {
		r := httptest.NewRequest("POST", "http://127.0.0.1"+path, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		return do(r)
	}
	form.Set("form", value(do(httptest.NewRequest("GET", "http://127.0.0.1"+path, nil)), "form"))
	form.Set("planned", value(post(), "planned"))
	form.Set("send", "1")
	post()
}

func waitForTake(t *testing.T, db *store.DB, n int64) *transcript.Take {
	t.Helper()
	for {
		take, err := db.TakeN(t.Context(), n)
		if err == nil && !take.EndedAt.IsZero() {
			return take
		}
		select {
		case <-t.Context().Done():
			t.Fatalf("take %d: %v", n, err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}
