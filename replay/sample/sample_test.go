package sample_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/replay/replaytest"
	"github.com/retake-debugger/retake/replay/sample"
	"github.com/retake-debugger/retake/transcript"
)

// bench records requests.
type bench struct{ *replaytest.Bench }

func newBench(t *testing.T) *bench { return &bench{replaytest.New(t)} }

type m = map[string]any

func send(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// gambler is a model that calls the tool "escalate" as often as it is told to, and
// "wait" otherwise: of each kind of request the same draws in the same order,
// however they arrive.
type gambler struct {
	t       *testing.T
	share   map[string]float64 // by what the request holds: how often it escalates
	busy    int                // how many of the first requests are refused with 429
	refuse  string             // requests that hold it are refused with 400
	mu      sync.Mutex
	draws   map[string]*rand.Rand
	arrived int
	now     int // requests at once
	most    int
	bodies  []string
	server  *httptest.Server
}

func newGambler(t *testing.T, share map[string]float64) *gambler {
	g := &gambler{t: t, share: share, draws: map[string]*rand.Rand{}}
	g.server = httptest.NewServer(g)
	t.Cleanup(g.server.Close)
	return g
}

// draw decides for a request. status is not 0 if it is refused.
func (g *gambler) draw(body string) (tool string, status int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.arrived++
	g.bodies = append(g.bodies, body)
	switch {
	case g.arrived <= g.busy:
		return "", http.StatusTooManyRequests
	case g.refuse != "" && strings.Contains(body, g.refuse):
		return "", http.StatusBadRequest
	}
	for kind, share := range g.share {
		if !strings.Contains(body, kind) {
			continue
		}
		if g.draws[kind] == nil {
			g.draws[kind] = rand.New(rand.NewPCG(7, 11))
		}
		if g.draws[kind].Float64() < share {
			return "escalate", 0
		}
	}
	return "wait", 0
}

func (g *gambler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	g.mu.Lock()
	g.now++
	g.most = max(g.most, g.now)
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		g.now--
		g.mu.Unlock()
	}()
	tool, status := g.draw(string(raw))
	if status != 0 {
		w.Header().Set("Retry-After", "0.001")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, `{"error":{"type":"no","message":"not now"}}`)
		return
	}
	if strings.HasSuffix(r.URL.Path, "/messages") {
		send(w, m{"id": "msg", "type": "message", "role": "assistant", "model": "m", "stop_reason": "tool_use",
			"content": []m{{"type": "tool_use", "id": "toolu_1", "name": tool, "input": m{"level": 2}}}, "usage": m{"input_tokens": 10, "output_tokens": 5}})
		return
	}
	send(w, m{"id": "c", "object": "chat.completion", "model": "m", "usage": m{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
		"choices": []m{{"index": 0, "finish_reason": "tool_calls", "message": m{"role": "assistant", "content": nil, "tool_calls": []m{
			{"id": "call_1", "type": "function", "function": m{"name": tool, "arguments": `{"level": 2}`}}}}}}})
}

const gamble = `{"model":"m","messages":[{"role":"user","content":"go"},
 {"role":"assistant","content":null,"tool_calls":[{"id":"call_a","type":"function","function":{"name":"look","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"call_a","content":"CALM"}],"tools":[{"type":"function","function":{"name":"escalate","parameters":{"type":"object"}}}],"seed":7}`

// recorded records the request once.
func (b *bench) recorded(g *gambler) *transcript.Exchange {
	b.T.Helper()
	const id = "0190a000-0000-7000-8000-000000000002"
	req, err := http.NewRequestWithContext(recorder.WithID(context.Background(), id), "POST", g.server.URL+"/v1/chat/completions", strings.NewReader(gamble))
	if err != nil {
		b.T.Fatal(err)
	}
	resp, err := b.Transport.RoundTrip(req)
	if err != nil {
		b.T.Fatal(err)
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	return b.Exchange(id)
}

func options(context.Context) (replay.Options, func(), error) {
	return replay.Options{Mode: transcript.Once, Retries: 4}, func() {}, nil
}

// arms are an edited one and its control.
func (b *bench) arms(e *transcript.Exchange) []replay.Arm {
	edit := transcript.Edit{Op: transcript.SetResult, CallID: "call_a", Text: "ALARM"}
	return []replay.Arm{
		{Name: "edited", Request: replaytest.Prepare(b.T, b.DB, e, edit), Options: options},
		{Name: "control", Request: replaytest.Prepare(b.T, b.DB, e), Options: options},
	}
}

func escalates(t *testing.T) replay.Predicate {
	t.Helper()
	look, err := replay.CallsTool("escalate", json.RawMessage(`{"level":2}`))
	if err != nil {
		t.Fatal(err)
	}
	return look
}

func TestSample_FindsAnEffectThatIsThere(t *testing.T) {
	g := newGambler(t, map[string]float64{"ALARM": 0.9, "CALM": 0.3})
	g.busy = 3
	b := newBench(t)
	e := b.recorded(g)
	if e.Status != 429 {
		t.Fatalf("recorded with status %d", e.Status)
	}
	const n = 40
	last := 0
	s := sample.Sampler{Player: b.Player(), Arms: b.arms(e), N: n, Parallel: 4, Predicate: escalates(t), Group: "g1",
		Progress: func(p sample.Played) { last = p.Done*1000 + p.Total }}
	got, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if got.Verdict != "the edit did something" || got.Effect == nil || got.Interval[0] > 0.6 || got.Interval[1] < 0.6 || *got.PValue > 0.001 {
		t.Errorf("%+v", got)
	}
	edited, control := got.Arms[0], got.Arms[1]
	if edited.N != n || control.N != n || edited.Failed+control.Failed != 0 || last != 2*n*1000+2*n || len(got.Takes) != 2*n {
		t.Errorf("%d and %d takes count, %d takes, progress %d", edited.N, control.N, len(got.Takes), last)
	}
	if o := edited.Outcomes[0]; o.Label != `escalate {"level":2}` || o.Count != edited.Yes {
		t.Errorf("outcomes %+v", edited.Outcomes)
	}
	if g.most > 4 {
		t.Errorf("%d requests at once", g.most)
	}
	takes, err := b.DB.Takes(context.Background(), e.ID)
	if err != nil || len(takes) != 2*n {
		t.Fatalf("%d takes are kept (%v)", len(takes), err)
	}
	for i := range takes {
		if takes[i].Group != "g1" || takes[i].Arm != "edited" && takes[i].Arm != "control" {
			t.Errorf("take %d is of group %q, arm %q", takes[i].N, takes[i].Group, takes[i].Arm)
		}
	}
	for _, c := range got.Secondary {
		if c.PValue < *got.PValue {
			t.Errorf("p of %s is not corrected: %+v", c.Name, c)
		}
	}
	text, err := json.Marshal(got)
	for _, member := range []string{"arms", "primary", "effect", "interval", "p_value", "verdict", "takes"} {
		if err != nil || !strings.Contains(string(text), `"`+member+`":`) {
			t.Errorf("no %s in %s", member, text)
		}
	}
	if err := sample.Keep(context.Background(), b.DB, got); err != nil {
		t.Fatal(err)
	}
	kept, err := sample.Read(context.Background(), b.DB, "g1")
	again, _ := json.Marshal(kept)
	if err != nil || string(again) != string(text) {
		t.Errorf("kept is %s, %v", again, err)
	}
	if none, err := sample.Read(context.Background(), b.DB, "g2"); none != nil || err != nil {
		t.Errorf("of no group: %+v, %v", none, err)
	}
}

func TestSample_SeesNoneWhereThereIsNone(t *testing.T) {
	g := newGambler(t, map[string]float64{"go": 0.5})
	g.draws["go"] = rand.New(rand.NewPCG(3, 5))
	b := newBench(t)
	got, err := (&sample.Sampler{Player: b.Player(), Arms: b.arms(b.recorded(g)), N: 25, Parallel: 1, Predicate: escalates(t)}).Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(got.Verdict, "did something") || *got.PValue <= 0.05 {
		t.Errorf("%+v", got)
	}
}

func TestSample_AlternatesTheArms(t *testing.T) {
	g := newGambler(t, nil)
	b := newBench(t)
	if _, err := (&sample.Sampler{Player: b.Player(), Arms: b.arms(b.recorded(g)), N: 3, Parallel: 1, Predicate: escalates(t)}).Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	order := ""
	for _, body := range g.bodies[1:] {
		if strings.Contains(body, "ALARM") {
			order += "e"
		} else {
			order += "c"
		}
	}
	if order != "ececec" {
		t.Errorf("sent as %s", order)
	}
}

func TestSample_StopsAtWhatIsRefusedForGood(t *testing.T) {
	g := newGambler(t, nil)
	g.refuse = "ALARM"
	b := newBench(t)
	got, err := (&sample.Sampler{Player: b.Player(), Arms: b.arms(b.recorded(g)), N: 50, Parallel: 2, Predicate: escalates(t)}).Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Takes) > 6 || got.Stopped != "edited was refused with status 400: not now" || !strings.HasPrefix(got.Verdict, "open") || got.Arms[0].Failed == 0 {
		t.Errorf("%+v", got)
	}
}

func TestSample_EndsWithItsContextAndKeepsWhatWasPlayed(t *testing.T) {
	g := newGambler(t, map[string]float64{"go": 1})
	b := newBench(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	got, err := (&sample.Sampler{Player: b.Player(), Arms: b.arms(b.recorded(g)), N: 50, Parallel: 1, Predicate: escalates(t), Progress: func(p sample.Played) {
		if p.Done == 4 {
			cancel()
		}
	}}).Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if got.Stopped != "interrupted" || got.Arms[0].Yes != 2 || len(got.Takes) < 4 || len(got.Takes) > 5 {
		t.Errorf("%+v", got)
	}
}

func TestSample_ALimitOnCostWantsCosts(t *testing.T) {
	g := newGambler(t, nil)
	b := newBench(t)
	got, err := (&sample.Sampler{Player: b.Player(), Arms: b.arms(b.recorded(g)), N: 9, Parallel: 1, Predicate: escalates(t), Cost: big.NewRat(1, 100)}).Run(context.Background())
	if err != nil || got.Stopped != "the cost of a take is not known" || len(got.Takes) > 2 {
		t.Errorf("%+v (%v)", got, err)
	}
}

func TestSample_ComparesModelsAndDialects(t *testing.T) {
	g := newGambler(t, map[string]float64{`"model":"m"`: 0.1, `"model":"b"`: 1, `"model":"c"`: 0.1})
	b := newBench(t)
	e := b.recorded(g)
	var arms []replay.Arm
	for _, to := range []struct {
		model string
		d     transcript.Dialect
	}{{"m", transcript.Chat}, {"b", transcript.Messages}, {"c", transcript.Chat}} {
		req := replaytest.Prepare(t, b.DB, e)
		losses, err := req.ConvertTo(to.d, to.model)
		if err != nil {
			t.Fatal(err)
		}
		arms = append(arms, replay.Arm{Name: to.model, Request: req, Losses: losses, Options: options})
	}
	got, err := (&sample.Sampler{Player: b.Player(), Arms: arms, N: 12, Parallel: 3, Predicate: escalates(t)}).Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if got.Effect != nil || len(got.Arms) != 3 || len(got.Secondary) != 2 || got.Secondary[0].Verdict != "they differ" || got.Secondary[0].Arms != [2]string{"b", "m"} || got.Secondary[1].Verdict == "they differ" {
		t.Errorf("%+v", got)
	}
	if a := got.Arms[1]; a.Dialect != "messages" || a.Model != "b" || a.Yes != 12 || len(a.Losses) != 2 || a.Losses[0].Code != dialect.ParameterDropped || a.Usage == nil || a.Usage.InputTotal != 120 {
		t.Errorf("%+v", a)
	}
}

func TestLookAtNext_ComparesWithTheRecordedAnswer(t *testing.T) {
	call := func(name, arguments string) *transcript.Turn {
		return &transcript.Turn{Output: []transcript.Item{{Kind: transcript.ToolCall, Name: name, ArgumentsRaw: arguments, Arguments: json.RawMessage(arguments)}}}
	}
	text := &transcript.Turn{Output: []transcript.Item{{Kind: transcript.MessageItem, Text: "hi"}}}
	for _, c := range []struct {
		recorded, now *transcript.Turn
		want          bool
	}{
		{call("f", `{"a":1,"b":2}`), call("f", `{ "b": 2, "a": 1.0 }`), true},
		{call("f", `{"a":1}`), call("f", `{"a":2}`), false},
		{call("f", `{"a":1}`), text, false},
		{text, text, true},
		{nil, call("f", `{}`), true},
		{nil, text, false},
	} {
		look := replay.SameAsRecorded(c.recorded)
		if got, err := look.Holds(context.Background(), &replay.Take{Turns: []*transcript.Turn{c.now}}); err != nil || got != c.want {
			t.Errorf("%s: %v (%v), want %v", look.Name, got, err, c.want)
		}
	}
	look := replay.TextMatches(regexp.MustCompile(`(?i)done`))
	if yes, _ := look.Holds(context.Background(), &replay.Take{FinalText: "all Done."}); !yes {
		t.Error("no match in the final text")
	}
}
