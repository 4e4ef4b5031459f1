package replay_test

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// scripted is a model of three dialects that needs nothing but the request: it calls
// a tool until it has had as many results as it wants, then answers with the sum of
// them. Ids differ from request to request.
type scripted struct {
	t        *testing.T
	rounds   int
	parallel int // calls of the first round
	stream   bool
	refuse   []int // statuses of the first requests
	mu       sync.Mutex
	requests []string
	server   *httptest.Server
}

func newScripted(t *testing.T, rounds int) *scripted {
	s := &scripted{t: t, rounds: rounds, parallel: 1}
	s.server = httptest.NewServer(s)
	t.Cleanup(s.server.Close)
	return s
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	n := len(s.requests)
	s.requests = append(s.requests, string(body))
	status := 0
	if n < len(s.refuse) {
		status = s.refuse[n]
	}
	s.mu.Unlock()
	if status != 0 {
		w.Header().Set("Retry-After", "0.001")
		w.WriteHeader(status)
		io.WriteString(w, `{"error":{"type":"busy","message":"later"}}`)
		return
	}
	switch r.URL.Path {
	case "/v1/messages":
		s.messages(w, body, n)
	case "/v1/responses":
		s.responses(w, body, n)
	default:
		s.chat(w, body, n)
	}
}

// next says what the model does after so many results: the arguments of its calls,
// or its last word.
func (s *scripted) next(results []string) (calls []string, text string) {
	rounds := 0
	for left := len(results); left > 0; rounds++ {
		if rounds == 0 {
			left -= s.parallel
		} else {
			left--
		}
	}
	switch {
	case rounds >= s.rounds:
		return nil, sum(results)
	case rounds == 0:
		for i := range s.parallel {
			calls = append(calls, fmt.Sprintf(`{"n": %d}`, i))
		}
		return calls, ""
	}
	return []string{fmt.Sprintf(`{"n":%d.0}`, rounds+s.parallel-1)}, ""
}

func sum(results []string) string {
	h := sha1.Sum([]byte(strings.Join(results, "\n")))
	return "FINAL " + hex.EncodeToString(h[:])
}

func send(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}

type m = map[string]any

func (s *scripted) chat(w http.ResponseWriter, body []byte, n int) {
	var req struct {
		Messages []struct{ Role, Content string }
	}
	json.Unmarshal(body, &req)
	var results []string
	for _, x := range req.Messages {
		if x.Role == "tool" {
			results = append(results, x.Content)
		}
	}
	calls, text := s.next(results)
	message, finish := m{"role": "assistant", "content": text}, "stop"
	if calls != nil {
		var list []m
		for i, c := range calls {
			list = append(list, m{"index": i, "id": fmt.Sprintf("call_%d_%d", n, i), "type": "function", "function": m{"name": "look", "arguments": c}})
		}
		message, finish = m{"role": "assistant", "content": nil, "tool_calls": list}, "tool_calls"
	}
	usage := m{"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
	if !s.stream {
		send(w, m{"id": "c", "object": "chat.completion", "model": "m", "choices": []m{{"index": 0, "message": message, "finish_reason": finish}}, "usage": usage})
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, c := range []m{
		{"object": "chat.completion.chunk", "model": "m", "choices": []m{{"index": 0, "delta": message}}},
		{"object": "chat.completion.chunk", "model": "m", "choices": []m{{"index": 0, "delta": m{}, "finish_reason": finish}}},
		{"object": "chat.completion.chunk", "model": "m", "choices": []m{}, "usage": usage},
	} {
		b, _ := json.Marshal(c)
		fmt.Fprintf(w, "data: %s\n\n", b)
	}
	io.WriteString(w, "data: [DONE]\n\n")
}

func (s *scripted) messages(w http.ResponseWriter, body []byte, n int) {
	var req struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	json.Unmarshal(body, &req)
	var results []string
	for _, x := range req.Messages {
		var blocks []struct{ Type, Content string }
		json.Unmarshal(x.Content, &blocks)
		for _, b := range blocks {
			if b.Type == "tool_result" {
				results = append(results, b.Content)
			}
		}
	}
	calls, text := s.next(results)
	content, finish := []m{{"type": "text", "text": text}}, "end_turn"
	if calls != nil {
		content, finish = nil, "tool_use"
		for i, c := range calls {
			content = append(content, m{"type": "tool_use", "id": fmt.Sprintf("toolu_%d_%d", n, i), "name": "look", "input": json.RawMessage(c)})
		}
	}
	usage := m{"input_tokens": 100, "output_tokens": 10}
	if !s.stream {
		send(w, m{"id": "msg", "type": "message", "role": "assistant", "model": "m", "content": content, "stop_reason": finish, "usage": usage})
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	event := func(name string, v m) {
		v["type"] = name
		b, _ := json.Marshal(v)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, b)
	}
	event("message_start", m{"message": m{"id": "msg", "type": "message", "role": "assistant", "model": "m", "content": []m{}, "usage": usage}})
	for i, b := range content {
		input, isCall := b["input"]
		if isCall {
			b["input"] = m{}
		}
		event("content_block_start", m{"index": i, "content_block": b})
		if isCall {
			event("content_block_delta", m{"index": i, "delta": m{"type": "input_json_delta", "partial_json": string(input.(json.RawMessage))}})
		}
		event("content_block_stop", m{"index": i})
	}
	event("message_delta", m{"delta": m{"stop_reason": finish}, "usage": m{"output_tokens": 10}})
	event("message_stop", m{})
}

func (s *scripted) responses(w http.ResponseWriter, body []byte, n int) {
	var req struct {
		Input []struct {
			Type   string
			Output json.RawMessage
		}
	}
	json.Unmarshal(body, &req)
	var results []string
	for _, x := range req.Input {
		if x.Type == "function_call_output" {
			var text string
			json.Unmarshal(x.Output, &text)
			results = append(results, text)
		}
	}
	calls, text := s.next(results)
	output := []m{{"type": "reasoning", "id": fmt.Sprintf("rs_%d", n), "summary": []m{}, "encrypted_content": fmt.Sprintf("blob%d", n)}}
	if calls == nil {
		output = append(output, m{"type": "message", "id": "msg", "role": "assistant", "status": "completed", "content": []m{{"type": "output_text", "text": text, "annotations": []m{}}}})
	}
	for i, c := range calls {
		output = append(output, m{"type": "function_call", "id": fmt.Sprintf("fc_%d_%d", n, i), "call_id": fmt.Sprintf("call_%d_%d", n, i), "name": "look", "arguments": c, "status": "completed"})
	}
	object := m{"id": fmt.Sprintf("resp_%d", n), "object": "response", "model": "m", "status": "completed", "output": output, "usage": m{"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}}
	if !s.stream {
		send(w, object)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	b, _ := json.Marshal(m{"type": "response.completed", "response": object})
	fmt.Fprintf(w, "event: response.completed\ndata: %s\n\n", b)
}

// bench is a database that records what a Transport sends.
type bench struct {
	t         *testing.T
	db        *store.DB
	transport http.RoundTripper
}

// newBench makes one.
func newBench(t *testing.T) *bench {
	t.Helper()
	dir := t.TempDir()
	db, err := store.Open(filepath.Join(dir, "t.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	spool, err := recorder.OpenSpool(filepath.Join(dir, "spool"), recorder.SpoolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	runner := &ingest.Runner{Spool: spool, Store: func(context.Context) (transcript.Store, error) { return db, nil }}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); runner.Run(ctx) }()
	base := &http.Transport{DisableCompression: true}
	t.Cleanup(func() {
		cancel()
		<-done
		base.CloseIdleConnections()
		spool.Close()
		db.Close()
	})
	return &bench{t: t, db: db, transport: recorder.NewTransport(base, recorder.Options{Spool: spool})}
}

// exchange waits until an exchange is stored.
func (b *bench) exchange(id string) *transcript.Exchange {
	b.t.Helper()
	for range 4000 {
		if e, err := b.db.Exchange(context.Background(), id); err == nil {
			return e
		}
		time.Sleep(5 * time.Millisecond)
	}
	b.t.Fatalf("exchange %s was not stored", id)
	return nil
}

func (b *bench) player() *replay.Player {
	return &replay.Player{Store: b.db, Transport: b.transport, WithID: recorder.WithID}
}

// firsts are the first requests of a run in each dialect.
var firsts = map[string]string{
	"/v1/chat/completions": `{"model":"m","messages":[{"role":"user","content":"go"}],"tools":[{"type":"function","function":{"name":"look","parameters":{}}}]}`,
	"/v1/messages":         `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"go"}],"tools":[{"name":"look","input_schema":{}}]}`,
	"/v1/responses":        `{"model":"m","input":[{"role":"user","content":"go"}],"tools":[{"type":"function","name":"look","parameters":{}}]}`,
}

// run records a run that the model leads: the tool gives tool(call).
func (b *bench) run(s *scripted, path string, tool func(n int) string) []*transcript.Exchange {
	b.t.Helper()
	first := b.first(s, path)
	n := 0
	take, err := b.player().Play(context.Background(), prepare(b.t, b.db, first), replay.Options{Sources: []replay.Source{toolFunc(func(*replay.Call) *replay.Result {
		n++
		return &replay.Result{Text: tool(n), Source: transcript.FromExec}
	})}})
	if err != nil || take.StopReason != transcript.StopAnswered {
		b.t.Fatalf("record a run: %+v, %v", take, err)
	}
	var list []*transcript.Exchange
	for _, id := range take.Steps {
		list = append(list, b.exchange(id))
	}
	return list
}

// first records a first request.
func (b *bench) first(s *scripted, path string) *transcript.Exchange {
	b.t.Helper()
	req, err := http.NewRequestWithContext(recorder.WithID(context.Background(), "0190a000-0000-7000-8000-000000000001"), "POST", s.server.URL+path, strings.NewReader(firsts[path]))
	if err != nil {
		b.t.Fatal(err)
	}
	resp, err := b.transport.RoundTrip(req)
	if err != nil {
		b.t.Fatal(err)
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	return b.exchange("0190a000-0000-7000-8000-000000000001")
}

func prepare(t *testing.T, r transcript.Reader, e *transcript.Exchange, edits ...transcript.Edit) *replay.Request {
	t.Helper()
	req, err := replay.Prepare(context.Background(), r, e, edits)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// toolFunc answers every call.
type toolFunc func(*replay.Call) *replay.Result

func (f toolFunc) Covers(*replay.Call) bool { return true }

func (f toolFunc) Answer(_ context.Context, c *replay.Call) (*replay.Result, error) {
	return f(c), nil
}

// tapeOf gives the sources that a take of an exchange has by default.
func tapeOf(t *testing.T, r transcript.Reader, e *transcript.Exchange, edits ...transcript.Edit) []replay.Source {
	t.Helper()
	tape, err := replay.ReadTape(context.Background(), r, e)
	if err != nil {
		t.Fatal(err)
	}
	edited, recorded := tape.Player(edits, nil)
	return []replay.Source{edited, recorded}
}

func sources(take *replay.Take) string {
	var list []string
	for _, r := range take.Results {
		list = append(list, string(r.Source))
	}
	return strings.Join(list, " ")
}

// A take of the whole run goes on with the recorded results, however the model names
// its calls this time, and with an edited one in the place of what was recorded.
func TestPlay_ContinuesFromTheTape(t *testing.T) {
	for path := range firsts {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprint(strings.TrimPrefix(path, "/v1/"), " stream ", stream), func(t *testing.T) {
				b, s := newBench(t), newScripted(t, 3)
				s.stream, s.parallel = stream, 2
				steps := b.run(s, path, func(n int) string { return fmt.Sprint("result ", n) })
				same, err := b.player().Play(t.Context(), prepare(t, b.db, steps[0]), replay.Options{Sources: tapeOf(t, b.db, steps[0])})
				if err != nil {
					t.Fatal(err)
				}
				if want := sum([]string{"result 1", "result 2", "result 3", "result 4"}); same.FinalText != want || sources(same) != "recorded recorded recorded recorded" || len(same.Steps) != 4 {
					t.Errorf("%q from %s in %d steps, want %q", same.FinalText, sources(same), len(same.Steps), want)
				}
				if same.Outcome != transcript.OK || same.StopReason != transcript.StopAnswered || same.Usage == nil || same.Usage.InputTotal != 400 || same.CostUSD != nil {
					t.Errorf("outcome %s, %s, usage %+v, cost %v", same.Outcome, same.StopReason, same.Usage, same.CostUSD)
				}
				calls, err := b.db.Calls(t.Context(), []string{steps[1].ID})
				if err != nil || len(calls) != 1 {
					t.Fatalf("calls %v, %v", calls, err)
				}
				edit := transcript.Edit{Op: transcript.SetResult, CallID: calls[0].CallID, Text: "edited"}
				take, err := b.player().Play(t.Context(), prepare(t, b.db, steps[0]), replay.Options{Sources: tapeOf(t, b.db, steps[0], edit), Edits: []transcript.Edit{edit}})
				if err != nil {
					t.Fatal(err)
				}
				if want := sum([]string{"result 1", "result 2", "edited", "result 4"}); take.FinalText != want || sources(take) != "recorded recorded edited recorded" {
					t.Errorf("%q from %s, want %q", take.FinalText, sources(take), want)
				}
				kept, err := b.db.TakeN(t.Context(), take.N)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(take.Results, kept.Results); diff != "" || kept.StopReason != transcript.StopAnswered || len(kept.Steps) != 4 {
					t.Errorf("kept %+v; results differ (-told +kept):\n%s", kept, diff)
				}
				last := b.exchange(take.Steps[3])
				if last.Link.Run != steps[0].Link.Run || last.Link.Agent != steps[0].Link.Agent || last.Link.Step != 4 || last.Link.Parent != take.Steps[2] {
					t.Errorf("the last step hangs at %+v", last.Link)
				}
			})
		}
	}
}
