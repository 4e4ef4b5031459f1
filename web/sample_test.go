package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/web"
)

// payload ends a script, opens a comment and loads an image, for whoever reads
// it as markup.
const payload = `</script><script>alert(1)</script><!--<img src=x onerror=alert(2)> &lt;b&gt;`

// reordering holds characters that would turn what follows around, and some
// that cannot be seen.
const reordering = "safe\u202Egnp.exe\u202C zero\u200Bwidth tag\U000E0041\U000E0042 esc\x1b[31m"

var day = time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)

// The exchanges of the sample, by their number.
const (
	xFirst      = iota + 1 // two calls at once
	xSecond                // brings their results, one of them an error; calls again
	xUnanswered            // goes on without the result
	xOrphan                // a result without a call, and a doubled one
	xLimited               // 429
	xUnknown               // an API that is not known
	xHostile               // hostile text everywhere
	xStreamed              // a streamed answer with reasoning
	xPosition              // a call and a result without ids
	xTake                  // a replay of xSecond
)

type memory []byte

func (m memory) Size() int64                  { return int64(len(m)) }
func (m memory) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(m)), nil }

// capture makes one exchange. A response that begins with "event:" or "data:"
// is a stream.
func capture(n int, path string, status int, request, response string) *transcript.Capture {
	at := day.Add(time.Duration(n) * time.Minute)
	kind := "application/json"
	if strings.HasPrefix(response, "event:") || strings.HasPrefix(response, "data:") {
		kind = "text/event-stream"
	}
	return &transcript.Capture{
		ID: fmt.Sprintf("0196f0aa-0000-7000-8000-%012x", n), StartedAt: at, EndedAt: at.Add(2900 * time.Millisecond),
		Upstream: "stub", Method: "POST", URL: "https://api.example" + path, Status: status, Outcome: transcript.OK,
		RequestHeader:  map[string][]string{"Content-Type": {"application/json"}, "User-Agent": {"sample/1.0"}},
		ResponseHeader: map[string][]string{"Content-Type": {kind}, "X-Evil": {"<script>alert(3)</script>"}},
		FirstByte:      400 * time.Millisecond,
		Chunks:         []transcript.Chunk{{Offset: 0, At: 800 * time.Millisecond}},
		Request:        memory(request), Response: memory(response),
	}
}

// quote writes a JSON string as most clients do, < and > as they are.
func quote(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err)
	}
	return strings.TrimSpace(b.String())
}

const (
	sampleTools = `[{"name":"read_file","description":"Read a file.","input_schema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}},
		{"name":"run_tests","description":"Run the tests of a package.","input_schema":{"type":"object","properties":{"pkg":{"type":"string"}}}},
		{"name":"edit_file","description":"Replace text in a file.","input_schema":{"type":"object","properties":{"path":{"type":"string"},"old":{"type":"string"},"new":{"type":"string"}}}}]`
	userText   = "Fix the failing test in parser.go"
	firstCalls = `{"type":"text","text":"I will read the parser and run its tests."},
		{"type":"tool_use","id":"toolu_01AbCdEfGhIjKlMnOpQrStc4","name":"read_file","input":{"path":"parser.go","limit":2512292042121000001}},
		{"type":"tool_use","id":"toolu_01AbCdEfGhIjKlMnOpQrStc5","name":"run_tests","input":{"pkg":"./..."}}`
	editCall = `{"type":"thinking","thinking":"The comma is consumed twice: next() is called once in the loop head and once in the branch.","signature":"c2ln"},
		{"type":"text","text":"The comma is consumed twice. I take one of the calls out."},
		{"type":"tool_use","id":"toolu_01ZxYwVuTsRqPoNmLkJiHg9q","name":"edit_file","input":{"path":"parser.go","old":"p.next()\n\tp.next()","new":"p.next()"}}`
)

func source() string {
	var b strings.Builder
	b.WriteString("package parser\n\nimport \"fmt\"\n\n")
	for i := range 60 {
		fmt.Fprintf(&b, "// rule %d reads one production of the grammar.\nfunc (p *parser) rule%d() error {\n\treturn fmt.Errorf(\"rule %d: unexpected %%q\", p.peek())\n}\n\n", i, i, i)
	}
	return b.String()
}

func messagesBody(messages string) string {
	return `{"model":"claude-opus-5-5","max_tokens":4096,"system":"You are a coding agent. Work in small steps and run the tests after each of them.","tools":` + sampleTools + `,"messages":[` + messages + `]}`
}

func messagesAnswer(id, content, stop string) string {
	return `{"id":"` + id + `","type":"message","role":"assistant","model":"claude-opus-5-5","content":[` + content + `],"stop_reason":"` + stop +
		`","usage":{"input_tokens":1200,"cache_read_input_tokens":17000,"cache_creation_input_tokens":0,"output_tokens":391}}`
}

func results() string {
	return `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_01AbCdEfGhIjKlMnOpQrStc4","content":` + quote(source()) + `},
		{"type":"tool_result","tool_use_id":"toolu_01AbCdEfGhIjKlMnOpQrStc5","is_error":true,"content":"exit status 1\n--- FAIL: TestComma (0.00s)\n    parser_test.go:41: got [a b], want [a , b]\nFAIL"}]}`
}

// sample is a small history of everything that a page must be able to show.
func sampled() []*transcript.Capture {
	user := `{"role":"user","content":` + quote(userText) + `}`
	first := user + `,{"role":"assistant","content":[` + firstCalls + `]},` + results()
	second := first + `,{"role":"assistant","content":[` + editCall + `]},{"role":"user","content":"Never mind the edit. What does rule7 do?"}`
	p := quote(payload)
	args := quote(`{"h":` + p + `}`)
	return []*transcript.Capture{
		capture(xFirst, "/v1/messages", 200, messagesBody(user), messagesAnswer("msg_1", firstCalls, "tool_use")),
		capture(xSecond, "/v1/messages", 200, messagesBody(first), messagesAnswer("msg_2", editCall, "tool_use")),
		capture(xUnanswered, "/v1/messages", 200, messagesBody(second), messagesAnswer("msg_3", `{"type":"text","text":"rule7 reads one production and reports what it did not expect."}`, "end_turn")),
		capture(xOrphan, "/v1/chat/completions", 200,
			`{"model":"gpt-test","messages":[{"role":"user","content":"What is the time?"},{"role":"tool","tool_call_id":"call_gone","content":"12:00"},
			{"role":"assistant","content":null,"tool_calls":[{"id":"call_0","type":"function","function":{"name":"clock","arguments":"{\"zone\":\"UTC\""}}]},
			{"role":"tool","tool_call_id":"call_0","content":"{\"time\":\"12:01\",\"id\":107505301260286111}"},{"role":"tool","tool_call_id":"call_0","content":"12:02"}]}`,
			`{"id":"c4","object":"chat.completion","model":"gpt-test","choices":[{"index":0,"message":{"role":"assistant","content":"One minute past noon."},"finish_reason":"stop"}],"usage":{"prompt_tokens":40,"completion_tokens":6,"total_tokens":46}}`),
		capture(xLimited, "/v1/chat/completions", 429, `{"model":"gpt-test","messages":[{"role":"user","content":"Hello?"}]}`,
			`{"error":{"type":"rate_limit_error","code":"rate_limit_exceeded","message":"Rate limit reached for gpt-test: 3 requests per minute."}}`),
		capture(xUnknown, "/v9/strange", 200, "\x00\x01\xff binary", "plain words"),
		capture(xHostile, "/v1/chat/completions", 200,
			`{"model":`+p+`,"messages":[{"role":"user","content":`+quote(payload+" "+reordering)+`},{"role":"assistant","content":null,"tool_calls":[{"id":`+p+`,"type":"function","function":{"name":`+p+`,"arguments":`+args+`}}]},
			{"role":"tool","tool_call_id":`+p+`,"content":`+p+`},{"role":"tool","tool_call_id":"javascript:alert(4)","content":`+p+`}]}`,
			`{"id":"c7","object":"chat.completion","model":`+p+`,"choices":[{"index":0,"message":{"role":"assistant","content":`+p+`,"tool_calls":[{"id":"call_x","type":"function","function":{"name":`+p+`,"arguments":`+args+`}}]},"finish_reason":`+p+`}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`),
		capture(xStreamed, "/v1/responses", 200,
			`{"model":"o-test","stream":true,"instructions":"Be brief.","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Add 2 and 3."}]}]}`, streamed()),
		capture(xPosition, "/v1/chat/completions", 200,
			`{"model":"gpt-test","messages":[{"role":"user","content":"Look it up."},{"role":"assistant","content":"","tool_calls":[{"id":"","type":"function","function":{"name":"look_up","arguments":"{}"}}]},{"role":"tool","tool_call_id":"","content":"found"}]}`,
			`{"id":"c9","object":"chat.completion","model":"gpt-test","choices":[{"index":0,"message":{"role":"assistant","content":"Found."},"finish_reason":"stop"}]}`),
		capture(xTake, "/v1/messages", 200, messagesBody(strings.Replace(first, "exit status 1", "ok", 1)),
			messagesAnswer("msg_10", `{"type":"text","text":"All tests pass."}`, "end_turn")),
	}
}

func streamed() string {
	events := []string{
		`{"type":"response.created","response":{"id":"resp_8","object":"response","status":"in_progress","model":"o-test","output":[]}}`,
		`{"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}`,
		`{"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"Two and three make five."}]}}`,
		`{"type":"response.output_item.added","output_index":1,"item":{"id":"msg_1","type":"message","role":"assistant","status":"in_progress","content":[]}}`,
		`{"type":"response.output_text.delta","item_id":"msg_1","output_index":1,"content_index":0,"delta":"Five."}`,
		`{"type":"response.output_item.done","output_index":1,"item":{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Five.","annotations":[]}]}}`,
		`{"type":"response.completed","response":{"id":"resp_8","object":"response","status":"completed","model":"o-test","output":[{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"Two and three make five."}]},{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Five.","annotations":[]}]}],"usage":{"input_tokens":20,"input_tokens_details":{"cached_tokens":0},"output_tokens":30,"output_tokens_details":{"reasoning_tokens":24},"total_tokens":50}}}`,
	}
	var b strings.Builder
	for _, e := range events {
		kind, _, _ := strings.Cut(strings.TrimPrefix(e, `{"type":"`), `"`)
		b.WriteString("event: " + kind + "\ndata: " + e + "\n\n")
	}
	return b.String()
}

// openStore returns a store that holds these captures.
func openStore(t testing.TB, captures []*transcript.Capture) *store.DB {
	t.Helper()
	db, err := store.Open(filepath.Join(t.TempDir(), "web.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := ingest.Commit(context.Background(), db, captures); err != nil {
		t.Fatal(err)
	}
	return db
}

// sampleStore holds the sample, and its last exchange as a take.
func sampleStore(t testing.TB) *store.DB {
	t.Helper()
	captures := sampled()
	db := openStore(t, captures)
	err := db.Update(context.Background(), func(tx transcript.Tx) error {
		return tx.PutTake(&transcript.Take{
			ID: "0196f0ab-0000-7000-8000-000000000001", Origin: captures[xSecond-1].ID, Steps: []transcript.TakeStep{{Exchange: captures[xTake-1].ID, Step: 1, Attempt: 1}}, CreatedAt: day,
			Edits: `[{"op":"set_result","call_id":"toolu_run","at":"/messages/2/content/1","was":"before","text":"ok\n--- FAIL: TestComma"}]`,
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func options(r transcript.Reader) web.Options {
	return web.Options{Reader: r, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return day.Add(time.Hour) }}
}

func sampleViewer(t testing.TB) http.Handler {
	t.Helper()
	return web.New(options(sampleStore(t)))
}

// ask sends one request from loopback.
func ask(h http.Handler, method, target string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	r.Host = "127.0.0.1:7778"
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
			continue
		}
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func commit(t testing.TB, s transcript.Store, captures ...*transcript.Capture) {
	t.Helper()
	if _, err := ingest.Commit(context.Background(), s, captures); err != nil {
		t.Fatal(err)
	}
}
