package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// newJob is a short cell of a scenario against a handler.
func newJob(t *testing.T, s scenario, h http.Handler) *job {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return &job{Scenario: s, Address: server.Listener.Addr().String(), Count: 8, Seed: 1}
}

func TestLoad_EveryScenarioIsAnsweredAsExpected(t *testing.T) {
	m, text := newModel(), newText()
	for _, s := range scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			l := newJob(t, s, m).run(text)
			if l.Requests != 8 || l.Failed != 0 {
				t.Fatalf("%d answered, %d failed (%s), want 8 and 0", l.Requests, l.Failed, l.Failure)
			}
			if l.P50 <= 0 || l.P99 < l.P50 || l.First50 <= 0 || l.First50 > l.P99 {
				t.Errorf("times do not fit together: %+v", l)
			}
		})
	}
}

// TestLoad_NoticesDamage puts a fault into each answer, of the kind that a
// proxy may have.
func TestLoad_NoticesDamage(t *testing.T) {
	m, text := newModel(), newText()
	faults := map[string]func(body []byte) []byte{
		"one byte differs": func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"one byte less":    func(b []byte) []byte { return b[:len(b)-1] },
		"one byte more":    func(b []byte) []byte { return append(b, '\n') },
		"empty":            func([]byte) []byte { return nil },
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer := httptest.NewRecorder()
				m.ServeHTTP(answer, r)
				w.Write(fault(answer.Body.Bytes()))
			})
			l := newJob(t, scenarios()[0], h).run(text)
			if l.Failed != 8 || !strings.Contains(l.Failure, errWrongAnswer.Error()) {
				t.Errorf("%d failed with %q, want 8 with %q", l.Failed, l.Failure, errWrongAnswer)
			}
		})
	}
}

func TestLoad_NoticesDamageToRequests(t *testing.T) {
	m, text := newModel(), newText()
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var b bytes.Buffer
		_, _ = b.ReadFrom(r.Body)
		body := b.Bytes()
		body[len(body)-30]++
		r2 := httptest.NewRequest(r.Method, r.URL.Path, bytes.NewReader(body))
		r2.Header = r.Header
		m.ServeHTTP(w, r2)
	})
	if l := newJob(t, scenarios()[0], h).run(text); l.Failed != 8 {
		t.Errorf("%d failed, want 8", l.Failed)
	}
}

func TestPrompts_AreChatRequestsOfTheSizeNamed(t *testing.T) {
	text := newText()
	sizes := map[prompting][2]int{small: {3_800, 4_300}, history: {195_000, 205_000}, distinct: {195_000, 205_000}, agents: {20_000, 24_000}}
	seen := map[string]bool{}
	for _, s := range scenarios() {
		p := newPrompter(&s, text, 1, 1)
		body := p.next()
		var request struct {
			Stream   bool
			Messages []struct{ Role, Content string }
		}
		if err := json.Unmarshal(body, &request); err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		if size := sizes[s.Prompts]; len(body) < size[0] || len(body) > size[1] {
			t.Errorf("%s: %d bytes, want %d to %d", s.Name, len(body), size[0], size[1])
		}
		if request.Stream != (s.Events > 0) || len(request.Messages) < 2 {
			t.Errorf("%s: stream %v, %d messages", s.Name, request.Stream, len(request.Messages))
		}
		seen[string(body)] = true
		if again := p.next(); seen[string(again)] {
			t.Errorf("%s: the same request twice", s.Name)
		}
	}
}

func TestAgent_SendsWhatTheModelAnswered(t *testing.T) {
	text := newText()
	s := scenario{Prompts: agents, Answer: 600}
	p := newPrompter(&s, text, 1, 1)
	first := bytes.Clone(p.next())
	answer := appendAnswer(nil, text, markOf(first), s.Answer)
	var said struct {
		Choices []struct{ Message json.RawMessage }
	}
	if err := json.Unmarshal(answer, &said); err != nil {
		t.Fatal(err)
	}
	second := p.next()
	if !json.Valid(second) || !bytes.Contains(second, said.Choices[0].Message) {
		t.Errorf("the second request does not hold the first answer's message")
	}
	for range agentTurns - 2 {
		second = p.next()
	}
	if n := len(second); !json.Valid(second) || n < 240_000 || n > 300_000 {
		t.Errorf("the last request has %d bytes", n)
	}
	if n := len(p.next()); n > 30_000 {
		t.Errorf("after %d turns nothing began anew: %d bytes", agentTurns, n)
	}
}

func TestEvents_AreAChatStream(t *testing.T) {
	stream := string(appendStream(nil, newText(), markOf([]byte("x")), 3))
	events := strings.SplitAfter(strings.TrimSuffix(stream, "\n\n"), "\n\n")
	if len(events) != 4 || events[3] != "data: [DONE]" {
		t.Fatalf("%d events: %q", len(events), events)
	}
	for _, e := range events[:3] {
		data, ok := strings.CutPrefix(strings.TrimSpace(e), "data: ")
		if !ok || !json.Valid([]byte(data)) {
			t.Errorf("no event: %q", e)
		}
	}
}

func TestSummary_RatiosAreTakenRoundByRound(t *testing.T) {
	cells := func(p50, perSecond [3]float64) (all []*cell) {
		for n := range p50 {
			all = append(all, &cell{load: load{P50: p50[n], Requests: int(perSecond[n]), Seconds: 1}})
		}
		return all
	}
	// The machine is ten times slower in the last round.
	r := &result{Scenario: scenario{Name: "A1", Bars: []bar{{throughput, 1}, {addedP50, 1}}}, Targets: []*summary{
		{Target: direct, cells: cells([3]float64{10, 10, 100}, [3]float64{100, 100, 10})},
		{Target: reverseproxy, cells: cells([3]float64{20, 20, 200}, [3]float64{50, 50, 5})},
		{Target: recording, cells: cells([3]float64{30, 40, 300}, [3]float64{100, 100, 10})},
	}}
	r.summarise()
	got := r.find(recording)
	if got.Throughput.Median != 2 || got.AddedP50Ratio.Median != 2 || got.AddedP50 != 30 {
		t.Errorf("throughput %v, added p50 %v (%v), want 2, 30 (2)", got.Throughput, got.AddedP50, got.AddedP50Ratio)
	}
	if len(r.Verdicts) != 2 || !r.Verdicts[0].OK || r.Verdicts[1].OK {
		t.Errorf("verdicts %v, want the first alone to be ok", r.Verdicts)
	}
}

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		all         []float64
		share, want float64
	}{
		{nil, 0.5, 0}, {[]float64{7}, 0.25, 7}, {[]float64{4, 1, 3, 2}, 0.5, 2.5}, {[]float64{5, 1, 3}, 0.5, 3}, {[]float64{1, 2}, 1, 2},
	} {
		if got := quantile(c.all, c.share); got != c.want {
			t.Errorf("quantile(%v, %v) = %v, want %v", c.all, c.share, got, c.want)
		}
	}
}
