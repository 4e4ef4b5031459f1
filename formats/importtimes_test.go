package formats_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/transcript"
)

// What a file does not say is not known: nothing is made up.
func TestImport_TellsOnlyTheTimesThatAreThere(t *testing.T) {
	const (
		ask    = `{"type":"user","sessionId":"s1","uuid":"u1","parentUuid":null,"timestamp":"2026-03-01T10:00:00Z","message":{"role":"user","content":"Look at it"}}`
		call   = `{"type":"assistant","sessionId":"s1","uuid":"u2","parentUuid":"u1","timestamp":"2026-03-01T10:00:05Z","message":{"id":"msg_1","role":"assistant","model":"m","content":[{"type":"tool_use","id":"t1","name":"f","input":{}}]}}`
		result = `{"type":"user","sessionId":"s1","uuid":"u3","parentUuid":"u2","timestamp":"2026-03-01T10:00:30Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"r"}]}}`
		done   = `{"type":"assistant","sessionId":"s1","uuid":"u4","parentUuid":"u3","timestamp":"2026-03-01T10:00:32Z","message":{"id":"msg_2","role":"assistant","model":"m","content":[{"type":"text","text":"Done."}]}}`
	)
	untimed := func(line string) string { // without the member timestamp
		before, rest, _ := strings.Cut(line, `"timestamp":"`)
		_, after, _ := strings.Cut(rest, `",`)
		return before + after
	}
	codex := func(input, output, count, result, next string) string {
		return `{"timestamp":"2026-03-01T10:00:00Z","type":"session_meta","payload":{"id":"s","source":"cli"}}
` + input + `"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Go"}]}}
` + output + `"type":"response_item","payload":{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}}
` + result + `"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"r"}}
` + count + `"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":1}}}}
` + next + `"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}}`
	}
	at := func(second int) string { return fmt.Sprintf(`{"timestamp":"2026-03-01T10:00:%02dZ",`, second) }
	for name, c := range map[string]struct{ text, want string }{
		"claude-code, all":            {ask + "\n" + call + "\n" + result + "\n" + done, "0-5 30-32"},
		"claude-code, no result":      {ask + "\n" + call + "\n" + untimed(result) + "\n" + done, "0-5 ?-32"},
		"claude-code, no answer":      {ask + "\n" + untimed(call) + "\n" + result + "\n" + untimed(done), "0-? 30-?"},
		"claude-code, no question":    {untimed(ask) + "\n" + call + "\n" + result + "\n" + done, "?-5 30-32"},
		"claude-code, nothing":        {untimed(ask) + "\n" + untimed(call) + "\n" + untimed(result) + "\n" + untimed(done), "?-? ?-?"},
		"claude-code, times run back": {ask + "\n" + strings.Replace(call, "10:00:05", "09:00:05", 1) + "\n" + result + "\n" + done, "0-? 30-32"},
		"codex, all":                  {codex(at(1), at(4), at(5), at(9), at(12)), "1-4 9-12"},
		"codex, no result":            {codex(at(1), at(4), at(5), "{", at(12)), "1-4 ?-12"},
		"codex, no answers":           {codex(at(1), "{", at(5), at(9), "{"), "1-? 9-?"},
		"chat":                        {`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"},{"role":"assistant","content":"d"}]}`, "?-? ?-?"},
		"gemini-cli": {`{"sessionId":"s","projectHash":"p","startTime":"2026-03-01T10:00:00Z","messages":[{"type":"user","timestamp":"2026-03-01T10:00:01Z","content":"a"},
			{"type":"gemini","timestamp":"2026-03-01T10:00:04Z","content":"","toolCalls":[{"id":"c","name":"f","args":{},"result":"r","timestamp":"2026-03-01T10:00:04Z"}]},
			{"type":"gemini","timestamp":"2026-03-01T10:00:09Z","content":"b"}]}`, "1-4 ?-9"},
		"pi": {`{"type":"session","id":"0190a000","timestamp":"2026-03-01T10:00:00Z","cwd":"/"}
{"type":"message","timestamp":"2026-03-01T10:00:01Z","message":{"role":"user","content":"a"}}
{"type":"message","timestamp":"2026-03-01T10:00:05Z","message":{"role":"assistant","timestamp":1772359202000,"content":[{"type":"text","text":"b"}]}}
{"type":"message","timestamp":"2026-03-01T10:00:08Z","message":{"role":"user","content":"c"}}
{"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"d"}]}}`, "2-5 8-?"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			var bad []int64
			for c, err := range importer(t, c.text).Read(source(t, c.text, &bad)) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, secondOf(c.StartedAt)+"-"+secondOf(c.EndedAt))
			}
			if strings.Join(got, " ") != c.want || len(bad) > 0 {
				t.Errorf("%s, want %s (bad lines %v)", strings.Join(got, " "), c.want, bad)
			}
		})
	}
}

func secondOf(t time.Time) string {
	if t.IsZero() {
		return "?"
	}
	return fmt.Sprint(t.Sub(time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)).Seconds())
}

// A session that does not tell the end of an answer has only the tokens that it began
// with: where that cannot be all, how many came is left out.
func TestImport_LeavesOutTokensThatAnAnswerBeganWith(t *testing.T) {
	answer := func(stop, tokens, text string) string {
		return `{"type":"assistant","sessionId":"s1","uuid":"u2","parentUuid":"u1","message":{"id":"msg_1","role":"assistant","model":"m","stop_reason":` + stop + `,"content":[{"type":"text","text":"` + text + `"}],"usage":{"input_tokens":7,"output_tokens":` + tokens + `}}}`
	}
	ids := map[string]bool{}
	for name, c := range map[string]struct {
		line string
		told bool
	}{
		"too few":            {answer("null", "2", strings.Repeat("word ", 100)), false},
		"enough":             {answer("null", "99", strings.Repeat("word ", 100)), true},
		"few, but its end":   {answer(`"end_turn"`, "2", strings.Repeat("word ", 100)), true},
		"few, and as little": {answer("null", "2", "Yes."), true},
	} {
		var bad []int64
		for e, err := range importer(t, c.line).Read(source(t, c.line, &bad)) {
			if err != nil {
				t.Fatal(err)
			}
			w := &dialect.Wire{Method: "POST", URL: e.URL, Request: read(t, e.Request), Response: read(t, e.Response), Status: 200, ResponseHeader: e.ResponseHeader}
			u := dialect.Decode(transcript.Messages, w).Usage
			if u == nil || u.InputTotal != 7 || u.Complete != c.told || (u.Output > 0) != c.told {
				t.Errorf("%s: %+v", name, u)
			}
			ids[e.ID] = true
		}
	}
	if len(ids) != 3 { // of the two that say the same one tells its end
		t.Errorf("%d ids, want 3: what is left out is no part of them", len(ids))
	}
}
