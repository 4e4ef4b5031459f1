package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// JSON that is nested deeper than encoding/json reads is shown, exported and sent
// again like any other, and no document of ours is deeper than others can read.
func TestRun_OnDeepJSON(t *testing.T) {
	const n = 50_000
	arrays := strings.Repeat("[", n) + strings.Repeat("]", n)
	objects := strings.Repeat(`{"a":`, n) + `"x"` + strings.Repeat("}", n)
	quoted := func(s string) string { return string(rawjson.Quote(s)) }
	call := func(arguments string) string {
		return `{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":` + quoted(arguments) + `}}]}`
	}
	answer := `{"id":"a","object":"chat.completion","model":"m","choices":[{"index":0,"message":%s,"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`
	said := fmt.Sprintf(answer, `{"role":"assistant","content":"done"}`)
	path := filepath.Join(t.TempDir(), "t.db")
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var captures []*transcript.Capture
	for _, bodies := range [][2]string{
		{`{"model":"m","messages":[{"role":"user","content":"arrays"}]}`, fmt.Sprintf(answer, call(`{"a":`+arrays+`}`))},
		{`{"model":"m","messages":[{"role":"user","content":"objects"}]}`, fmt.Sprintf(answer, call(objects))},
		{`{"model":"m","messages":[{"role":"user","content":"result"},` + call("{}") + `,{"role":"tool","tool_call_id":"c","content":` + quoted(arrays) + `}]}`, said},
		{`{"model":"m","messages":[{"role":"user","content":"schema"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":` + objects + `}}}]}`, said},
		{`{"model":"m","metadata":{"a":` + arrays + `},"messages":[{"role":"user","content":"parameter"}]}`, said},
		{`{"model":"m","messages":[{"role":"user","content":"unknown part"},{"role":"user","content":[{"type":"new","new":` + objects + `}]}]}`, said},
		{`{"model":"m","messages":[{"role":"user","content":"usage"}]}`, strings.Replace(said, `"prompt_tokens":1`, `"prompt_tokens":1,"details":`+arrays, 1)},
	} {
		i := len(captures) + 1
		captures = append(captures, &transcript.Capture{
			ID: fmt.Sprintf("0190a000-0000-7000-8000-%012d", i), StartedAt: time.Unix(int64(1_700_000_000+i), 0), EndedAt: time.Unix(int64(1_700_000_001+i), 0),
			Method: "POST", URL: "https://api.example.com/v1/chat/completions", Status: 200, Outcome: transcript.OK,
			RequestHeader: map[string][]string{"Content-Type": {"application/json"}}, ResponseHeader: map[string][]string{"Content-Type": {"application/json"}},
			Request: fileBody(bodies[0]), Response: fileBody(bodies[1]),
		})
	}
	if _, err := ingest.Commit(t.Context(), db, captures); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for i := range captures {
		ref := fmt.Sprintf("x%d", i+1)
		for _, command := range []string{"show", "show --json", "show --full", "lint --json", "context --json", "calls --json", "export --format jsonl", "export --format curl", "export --format html", "export --format markdown", "replay --dry-run"} {
			args := strings.Fields(command)
			args = append(args[:1:1], append([]string{ref}, args[1:]...)...)
			status, out, errs := invoke(t, nil, append(args, "--db", path)...)
			if status > 1 || strings.Contains(out+errs, "depth") || strings.Contains(out, "breaks off") {
				t.Errorf("inspect %v: status %d, %.200s", args, status, errs)
			}
			if strings.Contains(command, "json") && (!json.Valid([]byte(out)) || rawjson.Depth([]byte(out)) > 600) {
				t.Errorf("inspect %v: %d levels of JSON", args, rawjson.Depth([]byte(out)))
			}
			if len(out) > 40*n {
				t.Errorf("inspect %v: %d bytes", args, len(out))
			}
		}
	}
}
