package view_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/analysis"
	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// sent is a request with what the provider counted of it.
type sent struct{ url, request, response string }

func recordSent(t *testing.T, all ...sent) (*store.DB, *view.Run) {
	t.Helper()
	db, err := store.Open(filepath.Join(t.TempDir(), "t.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	for i, s := range all {
		at := time.Unix(int64(600*i), 0)
		_, err := ingest.Commit(context.Background(), db, []*transcript.Capture{{
			ID: fmt.Sprintf("0190a000-0000-7000-8000-%012d", i+1), StartedAt: at, EndedAt: at.Add(time.Second),
			Method: "POST", URL: s.url, Status: 200, Outcome: transcript.OK, Request: body(s.request), Response: body(s.response),
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	return db, runOf(t, db, 1)
}

func runOf(t *testing.T, db *store.DB, n int64) *view.Run {
	t.Helper()
	run, err := db.RunN(context.Background(), n)
	if err != nil {
		t.Fatal(err)
	}
	v, err := view.NewRun(context.Background(), db, run, time.Unix(1e6, 0))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// claude makes a request of the Messages API; its answer says Step n.
func claude(system, tools, messages string, n, cached, fresh int) sent {
	return sent{"https://api.anthropic.com/v1/messages", fmt.Sprintf(`{"model":"claude-opus-4-5","max_tokens":9,"system":%q,"tools":[%s],"messages":[%s]}`, system, tools, messages),
		fmt.Sprintf(`{"id":"msg_%d","type":"message","role":"assistant","model":"claude-opus-4-5","content":[{"type":"text","text":"Step %d"}],"stop_reason":"end_turn","usage":{"input_tokens":%d,"cache_read_input_tokens":%d,"cache_creation_input_tokens":0,"output_tokens":3}}`, n, n, fresh, cached)}
}

// gpt is the same of Chat Completions: cached tokens are a part of the prompt.
func gpt(system, tools, messages string, n, cached, fresh int) sent {
	messages = strings.ReplaceAll(messages, `[{"type":"text","text":"Go","cache_control":{"type":"ephemeral"}}]`, `"Go"`)
	return sent{"https://api.openai.com/v1/chat/completions", fmt.Sprintf(`{"model":"gpt-4o","messages":[{"role":"system","content":%q},%s],"tools":[%s]}`, system, messages, strings.NewReplacer(`{"name"`, `{"type":"function","function":{"name"`, `{}}`, `{}}}`, `input_schema`, `parameters`).Replace(tools)),
		fmt.Sprintf(`{"id":"c%d","model":"gpt-4o","choices":[{"index":0,"message":{"role":"assistant","content":"Step %d"},"finish_reason":"stop"}],"usage":{"prompt_tokens":%d,"completion_tokens":3,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d}}}`, n, n, cached+fresh, cached+fresh+3, cached)}
}

func TestCache_NamesTheFirstThingThatBrokeThePrefix(t *testing.T) {
	const (
		tool   = `{"name":"f","input_schema":{}}`
		first  = `{"role":"user","content":[{"type":"text","text":"Go","cache_control":{"type":"ephemeral"}}]}`
		plain  = `{"role":"user","content":"Go"}`
		second = plain + `,{"role":"assistant","content":"Step 1"},{"role":"user","content":"On"}`
		system = "You help.\nToday is 2026-11-29 18:02."
	)
	later := strings.Replace(system, "18:02", "18:03", 1)
	long := strings.Repeat(fmt.Sprintf(`{"role":"user","content":%q},{"role":"assistant","content":"Well"},`, strings.Repeat("more words ", 400)), 20)
	var inPieces bool
	type kind func(system, tools, messages string, n, cached, fresh int) sent
	behind := func(history string, of kind) kind {
		return func(system, tools, messages string, n, cached, fresh int) sent {
			return of(system, tools, history+messages, n, cached, fresh)
		}
	}
	for name, api := range map[string]kind{"messages": claude, "chat": gpt, "long messages": behind(long, claude), "long chat": behind(long, gpt)} {
		tests := []struct {
			name string
			next sent
			want string
		}{
			{"nothing", api(system, tool, second, 2, 4000, 60), "– again 0"},
			{"the system prompt", api(later, tool, second, 2, 0, 4060), "system system 2: Today is 2026-11-29 18:03. was Today is 2026-11-29 18:02. again 4050"},
			{"a tool more", api(system, tool+`,{"name":"g","input_schema":{}}`, second, 2, 0, 4060), "tools tool g 0: tool g was  again 4050"},
			{"a tool less", api(system, "", second, 2, 0, 4060), "tools tool f 0:  was tool f again 4050"},
			{"a tool's schema", api(system, `{"name":"f","description":"new","input_schema":{}}`, second, 2, 0, 4060), "tools tool f /description"},
			{"the provider forgot", api(system, tool, second, 2, 0, 4060), "provider the request only goes on; 9m59s after the one before 0:  was  again 4050"},
		}
		for _, tt := range tests {
			db, run := recordSent(t, api(system, tool, first, 1, 3000, 1050), tt.next)
			inPieces = inPieces || isInPieces(t, db, run)
			c, err := run.Cache(context.Background(), db, pricing.New())
			if err != nil {
				t.Fatal(err)
			}
			if _, beside, err := run.WindowAndCache(context.Background(), db, pricing.New()); err != nil || cmp.Diff(c, beside) != "" {
				t.Errorf("beside the window it is told otherwise (%v): %s", err, cmp.Diff(c, beside))
			}
			if len(c.Steps) != 2 {
				t.Fatalf("%s, %s: %d steps, want 2", name, tt.name, len(c.Steps))
			}
			got := "–"
			if b := c.Steps[1].Broke; b != nil {
				got = fmt.Sprintf("%s %s %d: %s was %s", b.Where, b.Item, b.Line, b.Now, b.Was)
			}
			got += fmt.Sprintf(" again %d", c.Steps[1].PaidAgain)
			got = strings.Replace(got, "/function/description", "/description", 1)
			if !strings.HasPrefix(got, tt.want) {
				t.Errorf("%s, %s: %q, want %q", name, tt.name, got, tt.want)
			}
			if broke := c.Steps[1].Broke != nil; broke != (c.USD != nil) {
				t.Errorf("%s, %s: broke %v, cost %v", name, tt.name, broke, c.USD)
			}
		}
	}
	if !inPieces {
		t.Error("no request was kept in pieces")
	}
}

func isInPieces(t *testing.T, db *store.DB, run *view.Run) bool {
	t.Helper()
	e, err := db.Exchange(context.Background(), run.Agents[0].Steps[0].Exchange)
	if err != nil {
		t.Fatal(err)
	}
	pieces, err := db.Segments(context.Background(), e.Request.Body)
	return err == nil && len(pieces) > 2
}

func TestWindow_SharesOutWhatARequestHolds(t *testing.T) {
	call := `{"type":"tool_use","id":"a","name":"read","input":{"path":"x"}}`
	first := claude("You help.", `{"name":"read","input_schema":{}}`, ask, 1, 0, 100)
	first.response = strings.Replace(first.response, `{"type":"text","text":"Step 1"}`, call, 1)
	second := claude("You help.", `{"name":"read","input_schema":{}}`, ask+`,{"role":"assistant","content":[`+call+`]},`+results("a=0123456789"), 2, 0, 200)
	db, run := recordSent(t, first, second)
	w, err := run.Window(context.Background(), db)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range w.Steps {
		line := fmt.Sprintf("%s %d tokens, estimated %v:", s.Step, s.Tokens, s.Estimated)
		var bytes, tokens int64
		for _, p := range s.Parts {
			line += fmt.Sprintf(" %s %v %d×%d", p.Name, p.Result, p.Items, p.Bytes)
			bytes += p.Bytes
			tokens += p.Tokens
		}
		if bytes != s.Bytes || tokens > s.Tokens || tokens < s.Tokens-int64(len(s.Parts)) {
			t.Errorf("%s: parts add up to %d bytes and %d tokens, want %d and %d", s.Step, bytes, tokens, s.Bytes, s.Tokens)
		}
		got = append(got, line)
	}
	want := []string{
		"r1.1 100 tokens, estimated false: tools false 1×33 system false 1×9 user false 1×2",
		"r1.2 200 tokens, estimated false: tools false 1×33 calls false 1×16 read true 1×10 system false 1×9 user false 1×2",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("windows differ (-want +got):\n%s", diff)
	}
}

func TestWaterfall_TellsModelToolsAndWaiting(t *testing.T) {
	db, _ := record(t,
		message{messages: ask, answer: callA + "," + callB},
		message{messages: ask + "," + called + "," + results("a=one", "b=two"), answer: done},
		message{messages: ask + "," + called + "," + results("a=one", "b=two") + `,{"role":"assistant","content":[` + done + `]},{"role":"user","content":"More"}`, answer: done})
	w := runOf(t, db, 1).Waterfall()
	var got []string
	for _, b := range w.Bars {
		got = append(got, fmt.Sprintf("%s %s %s %.0f+%.0f", b.Kind, b.Step, b.What, *b.StartMS, *b.DurationMS))
	}
	want := []string{"model r1.1 m 0+1000", "tools r1.1 f, f 1000+999000", "model r1.2 m 1000000+1000", "wait r1.2  1001000+999000", "model r1.3 m 2000000+1000"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("bars differ (-want +got):\n%s", diff)
	}
	if *w.ModelMS != 3000 || *w.ToolsMS != 999_000 || *w.WaitMS != 999_000 || *w.DurationMS != 2_001_000 {
		t.Errorf("model %v, tools %v, wait %v of %v", *w.ModelMS, *w.ToolsMS, *w.WaitMS, *w.DurationMS)
	}
}

func TestComparison_TellsWhereEachLeftTheFirst(t *testing.T) {
	db := twoDialects(t, func(s string) string { return strings.ReplaceAll(s, "no such file", "permission denied") })
	var targets []*view.Target
	for _, ref := range []string{"r1", "r1", "r2"} {
		target, err := view.Locate(context.Background(), db, ref)
		if err != nil {
			t.Fatal(err)
		}
		targets = append(targets, target)
	}
	c, err := view.NewComparison(context.Background(), db, targets, view.DiffOptions{Prices: pricing.New()}, time.Unix(1e6, 0))
	if err != nil {
		t.Fatal(err)
	}
	if c.Runs[0].LeftAt != nil || c.Runs[1].LeftAt != nil {
		t.Error("a run leaves its own path")
	}
	l := c.Runs[2].LeftAt
	if l == nil || l.FirstStep != "r1.1" || l.Step != "r2.1" || l.Fate != analysis.Changed || l.Was == l.Now || !strings.HasPrefix(l.Now, `read {"`) || !strings.Contains(l.Now, "permission denied") {
		t.Errorf("left at %+v, want the changed result of the first step", l)
	}
	if n := c.Runs[2].CallsByTool["read"]; n != 2 || c.Runs[2].Answer != "Only a is there." {
		t.Errorf("%d calls of read, answer %q", n, c.Runs[2].Answer)
	}
}

func TestStats_AddsUpModelsAndTools(t *testing.T) {
	call := `{"type":"tool_use","id":"a","name":"read","input":{"path":"x"}}`
	first := claude("You help.", "", ask, 1, 300, 100)
	first.response = strings.Replace(first.response, `{"type":"text","text":"Step 1"}`, call+","+strings.ReplaceAll(call, `"a"`, `"b"`), 1)
	second := claude("You help.", "", ask+`,{"role":"assistant","content":[`+call+","+strings.ReplaceAll(call, `"a"`, `"b"`)+`]},`+strings.Replace(results("a=bad"), `"tool_use_id"`, `"is_error":true,"tool_use_id"`, 1), 2, 500, 100)
	db, _ := recordSent(t, first, second)
	s, err := view.NewStats(context.Background(), db, transcript.Filter{}, pricing.New())
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Models) != 1 || len(s.Tools) != 1 || len(s.Runs) != 1 {
		t.Fatalf("%d models, %d tools, %d runs; want one each", len(s.Models), len(s.Tools), len(s.Runs))
	}
	m, tool := s.Models[0], s.Tools[0]
	if m.Exchanges != 2 || m.InputTotal != 1000 || *m.CachedShare != 0.8 || m.CostUSD == nil {
		t.Errorf("model %+v", m)
	}
	if tool.Calls != 2 || tool.Errors != 1 || tool.Unanswered != 1 || tool.P50 == nil || *tool.P50 != 599_000 {
		t.Errorf("tool %+v", tool)
	}
	if s.Runs[0].Name != "r1" || s.Total.Exchanges != 2 {
		t.Errorf("run %q, %d exchanges", s.Runs[0].Name, s.Total.Exchanges)
	}
}
