package replay_test

import (
	"context"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/replay/replaytest"
	"github.com/retake-debugger/retake/transcript"
)

// answers is a model that gives one answer after the other, and keeps what it was
// asked.
type answers struct {
	list   []string
	mu     sync.Mutex
	asked  []string
	before func(n int) // called before each answer
	server *httptest.Server
}

func newAnswers(t *testing.T, list ...string) *answers {
	a := &answers{list: list}
	a.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		a.mu.Lock()
		n := len(a.asked)
		a.asked = append(a.asked, string(body))
		a.mu.Unlock()
		if a.before != nil {
			a.before(n)
		}
		status, text := http.StatusOK, `{"error":{"type":"none","message":"no more answers"}}`
		if n < len(a.list) {
			text = a.list[n]
		} else {
			status = http.StatusBadRequest
		}
		if code, _, ok := strings.Cut(text, " "); ok && len(code) == 3 {
			fmt.Sscan(code, &status)
			text = text[4:]
			w.Header().Set("Retry-After", "0")
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		io.WriteString(w, text)
	}))
	t.Cleanup(a.server.Close)
	return a
}

// calling is a chat answer that calls tools: NAME ARGUMENTS each.
func calling(calls ...string) string {
	var list []string
	for i, c := range calls {
		name, arguments, _ := strings.Cut(c, " ")
		list = append(list, fmt.Sprintf(`{"id":"call_%d","type":"function","function":{"name":%q,"arguments":%q}}`, i, name, arguments))
	}
	return `{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[` + strings.Join(list, ",") +
		`]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110}}`
}

func saying(text, finish string) string {
	return fmt.Sprintf(`{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":%q}],"usage":{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110}}`, text, finish)
}

// origin records a first request to a model, of a run that is of no use otherwise.
func (b *bench) origin(a *answers) *replay.Request {
	b.T.Helper()
	s := newScripted(b.T, 0)
	req := replaytest.Prepare(b.T, b.DB, b.first(s, "/v1/chat/completions"))
	if err := req.SendTo(a.server.URL); err != nil {
		b.T.Fatal(err)
	}
	return req
}

// anyTool answers every call with its name.
var anyTool = []replay.Source{toolFunc(func(c *replay.Call) *replay.Result {
	return &replay.Result{Text: c.Name, Source: transcript.FromExec}
})}

func TestPlay_StopsAt(t *testing.T) {
	prices := pricing.New()
	if err := prices.Override(strings.NewReader(`{"models":{"m":{"input":"1000000","output":"0"}}}`)); err != nil {
		t.Fatal(err)
	}
	forever := []string{calling("f {}"), calling("f {}"), calling("f {}"), calling("f {}"), calling("f {}")}
	tests := []struct {
		name    string
		answers []string
		o       replay.Options
		prices  *pricing.Table
		stop    transcript.StopReason
		outcome transcript.Outcome
		steps   int
		open    int
	}{
		{"one step", forever, replay.Options{Mode: transcript.Once}, nil, transcript.StopOnce, transcript.OK, 1, 1},
		{"an answer without calls", []string{calling("f {}"), saying("done", "stop")}, replay.Options{}, nil, transcript.StopAnswered, transcript.OK, 2, 0},
		{"steps", forever, replay.Options{Limits: replay.Limits{Steps: 3}}, nil, transcript.StopSteps, transcript.OK, 3, 1},
		{"tokens", forever, replay.Options{Limits: replay.Limits{Tokens: 200}}, nil, transcript.StopTokens, transcript.OK, 2, 1},
		{"cost", forever, replay.Options{Limits: replay.Limits{Cost: big.NewRat(250, 1)}}, prices, transcript.StopCost, transcript.OK, 3, 1},
		{"a cost that is not known", forever, replay.Options{Limits: replay.Limits{Cost: big.NewRat(250, 1)}}, nil, transcript.StopCost, transcript.OK, 1, 1},
		{"an answer that was cut short", []string{saying("and then", "length")}, replay.Options{}, nil, transcript.StopIncomplete, transcript.OK, 1, 0},
		{"a refusal", []string{calling("f {}"), `400 {"error":{"type":"invalid","message":"no"}}`}, replay.Options{}, nil, transcript.StopFailed, transcript.HTTPError, 2, 0},
		{"no source", forever, replay.Options{Sources: []replay.Source{}}, nil, transcript.StopOpenCalls, transcript.OK, 1, 1},
		{"a source for one of two calls", []string{calling("f {}", "g {}")}, replay.Options{Sources: []replay.Source{only("f")}}, nil, transcript.StopOpenCalls, transcript.OK, 1, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, a := newBench(t), newAnswers(t, tt.answers...)
			if tt.o.Sources == nil {
				tt.o.Sources = anyTool
			}
			p := b.Player()
			p.Prices = tt.prices
			take, err := p.Play(t.Context(), b.origin(a), tt.o)
			if err != nil {
				t.Fatal(err)
			}
			if take.StopReason != tt.stop || take.Outcome != tt.outcome || len(take.Steps) != tt.steps || len(take.OpenCalls) != tt.open || len(a.asked) != tt.steps {
				t.Errorf("%s, %s, %d steps, %d open, %d requests; want %s, %s, %d, %d", take.StopReason, take.Outcome, len(take.Steps), len(take.OpenCalls), len(a.asked), tt.stop, tt.outcome, tt.steps, tt.open)
			}
			kept, err := b.DB.TakeN(t.Context(), take.N)
			if err != nil || kept.StopReason != tt.stop || kept.Outcome != tt.outcome || kept.EndedAt.IsZero() || len(kept.Steps) != tt.steps {
				t.Errorf("kept %+v, %v", kept, err)
			}
		})
	}
}

// only answers the calls of one tool, and fails the test if another is run.
type only string

func (o only) Covers(c *replay.Call) bool { return c.Name == string(o) }

func (o only) Answer(context.Context, *replay.Call) (*replay.Result, error) {
	panic("a tool was run although the take could not go on")
}

func TestPlay_IsStopped(t *testing.T) {
	for name, tt := range map[string]struct {
		limit time.Duration
		stop  transcript.StopReason
	}{"by its limit of time": {50 * time.Millisecond, transcript.StopTimeout}, "by a user": {0, transcript.StopInterrupt}} {
		t.Run(name, func(t *testing.T) {
			b, a := newBench(t), newAnswers(t, calling("f {}"), calling("f {}"))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			hang := make(chan struct{})
			defer close(hang)
			a.before = func(n int) {
				if n == 1 {
					if tt.limit == 0 {
						cancel()
					}
					<-hang
				}
			}
			take, err := b.Player().Play(ctx, b.origin(a), replay.Options{Sources: anyTool, Limits: replay.Limits{Time: tt.limit}})
			if err != nil {
				t.Fatal(err)
			}
			if tt.limit > 0 && len(take.Steps) == 1 { // a slow machine
				t.Skip("the first step took all the time")
			}
			if take.StopReason != tt.stop || take.Outcome != transcript.ClientDisconnect || len(take.Steps) != 2 {
				t.Errorf("%s, %s, %d steps", take.StopReason, take.Outcome, len(take.Steps))
			}
			if e := b.Exchange(take.Steps[1]); e.Outcome != transcript.ClientDisconnect || e.Link.Parent != take.Steps[0] {
				t.Errorf("the request that was cut is kept as %s, behind %s", e.Outcome, e.Link.Parent)
			}
		})
	}
}

// A take is kept before anything is sent and with each step: nothing that was sent
// is lost with the process.
func TestPlay_KeepsWhatItDoesAsItDoes(t *testing.T) {
	b, a := newBench(t), newAnswers(t, calling("f {}"), saying("done", "stop"))
	req := b.origin(a)
	a.before = func(n int) {
		takes, err := b.DB.Takes(context.Background(), req.Origin.ID)
		if err != nil || len(takes) != 1 || len(takes[0].Steps) != n+1 || takes[0].Outcome != transcript.InProgress {
			t.Errorf("while request %d is answered: %+v, %v", n+1, takes, err)
		}
	}
	if _, err := b.Player().Play(t.Context(), req, replay.Options{Sources: anyTool, Reason: "to see"}); err != nil {
		t.Fatal(err)
	}
}

// A request that was refused for now is another attempt at its step.
func TestPlay_SendsAgainWhatWasRefusedForNow(t *testing.T) {
	b, a := newBench(t), newAnswers(t, `429 {"error":{"message":"later"}}`, `529 {"error":{"message":"later"}}`, calling("f {}"), `503 {}`, saying("done", "stop"))
	waits := 0
	take, err := b.Player().Play(t.Context(), b.origin(a), replay.Options{Sources: anyTool, Retries: 2, Progress: func(e replay.Event) {
		if e.Kind == replay.Waits {
			waits++
		}
	}})
	if err != nil || take.StopReason != transcript.StopAnswered || len(take.Steps) != 2 || waits != 3 || len(take.Stored.Steps) != 5 {
		t.Fatalf("%+v after %d waits, %v", take, waits, err)
	}
	for i, want := range []struct{ step, attempt int }{{1, 1}, {1, 2}, {1, 3}, {2, 1}, {2, 2}} {
		s := take.Stored.Steps[i]
		e := b.Exchange(s.Exchange)
		if s.Step != want.step || s.Attempt != want.attempt || e.Link.Step != want.step || e.Link.Attempt != want.attempt {
			t.Errorf("exchange %d: %+v, linked as step %d attempt %d; want %+v", i, s, e.Link.Step, e.Link.Attempt, want)
		}
	}
	a.list, a.asked = []string{`429 {}`, `429 {}`}, nil
	take, err = b.Player().Play(t.Context(), b.origin2(take, a), replay.Options{Sources: anyTool, Retries: 1})
	if err != nil || take.StopReason != transcript.StopFailed || take.Outcome != transcript.HTTPError || len(take.Stored.Steps) != 2 {
		t.Errorf("%+v, %v", take, err)
	}
}

// origin2 prepares the origin of a take again.
func (b *bench) origin2(take *replay.Take, a *answers) *replay.Request {
	b.T.Helper()
	req := replaytest.Prepare(b.T, b.DB, b.Exchange(take.Origin))
	if err := req.SendTo(a.server.URL); err != nil {
		b.T.Fatal(err)
	}
	return req
}

// A model that plays the tool is asked in a side call of the take, and what that
// uses counts.
func TestPlay_AModelPlaysTheTool(t *testing.T) {
	for path := range firsts {
		t.Run(path, func(t *testing.T) {
			b, s := newBench(t), newScripted(t, 1)
			first := b.first(s, path)
			take, err := b.Player().Play(t.Context(), replaytest.Prepare(t, b.DB, first), replay.Options{Sources: []replay.Source{&replay.Simulated{Model: "small"}}})
			if err != nil {
				t.Fatal(err)
			}
			// The scripted model calls its tool when it is asked to play one: no text.
			if take.StopReason != transcript.StopAnswered || sources(take) != "simulated" || len(take.Steps) != 2 || take.Usage.InputTotal != 300 || take.FinalText != sum([]string{""}) {
				t.Fatalf("%+v, usage %+v, sources %s", take, take.Usage, sources(take))
			}
			side := b.Exchange(take.Results[0].From)
			if !side.Link.Side || side.Link.Run != first.Link.Run || side.Model != "small" {
				t.Errorf("the side call: %+v, of model %s", side.Link, side.Model)
			}
			if s.requests[2] == "" || !strings.Contains(s.requests[2], "look") {
				t.Errorf("the model is asked %s", s.requests[2])
			}
		})
	}
}

func TestPlay_GoesOnAfterAPause(t *testing.T) {
	b := newBench(t)
	s := newScripted(t, 0)
	first := b.first(s, "/v1/messages")
	a := newAnswers(t,
		`{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}],"stop_reason":"pause_turn","usage":{"input_tokens":1,"output_tokens":1}}`,
		`{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"found"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`)
	req := replaytest.Prepare(t, b.DB, first)
	if err := req.SendTo(a.server.URL); err != nil {
		t.Fatal(err)
	}
	take, err := b.Player().Play(t.Context(), req, replay.Options{})
	if err != nil || take.FinalText != "found" || len(take.Steps) != 2 || !strings.Contains(a.asked[1], "srvtoolu_1") {
		t.Errorf("%+v, %v; asked %q", take, err, a.asked)
	}
}
