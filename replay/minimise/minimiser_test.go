package minimise_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/replay/minimise"
	"github.com/retake-debugger/retake/replay/replaytest"
	"github.com/retake-debugger/retake/transcript"
)

type m = map[string]any

// bench records requests.
type bench struct{ *replaytest.Bench }

func newBench(t *testing.T) *bench { return &bench{replaytest.New(t)} }

var dialectPaths = []string{"/v1/chat/completions", "/v1/responses", "/v1/messages"}

// told records a request as a model is told it.
func (b *bench) told(s *strict, path, body string) *transcript.Exchange {
	b.T.Helper()
	const id = "0190a000-0000-7000-8000-000000000003"
	req, err := http.NewRequestWithContext(recorder.WithID(context.Background(), id), "POST", s.server.URL+path, strings.NewReader(body))
	if err != nil {
		b.T.Fatal(err)
	}
	resp, err := b.Transport.RoundTrip(req)
	if err != nil {
		b.T.Fatal(err)
	}
	answer, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if resp.StatusCode != 200 {
		b.T.Fatalf("the whole request is refused: %s\n%s", answer, body)
	}
	return b.Exchange(id)
}

func (b *bench) minimiser(s *strict, path, body string) *minimise.Minimiser {
	b.T.Helper()
	e := b.told(s, path, body)
	s.bodies = nil
	look, err := replay.CallsTool("escalate", nil)
	if err != nil {
		b.T.Fatal(err)
	}
	return &minimise.Minimiser{Player: b.Player(), Request: replaytest.Prepare(b.T, b.DB, e), Predicate: look, Samples: 1, Group: "g"}
}

// left returns the texts of what is decisive, what is only required left out.
func left(s *minimise.Smallest) string {
	var list []string
	for _, d := range s.Decisive {
		switch {
		case d.Required:
		case d.Kind == transcript.ToolDefinition:
			list = append(list, "tool "+d.Name)
		case len(d.Lines) > 0:
			for _, l := range d.Lines {
				list = append(list, strings.TrimSpace(l.Text))
			}
		default:
			_, planted, _ := strings.Cut(d.Text, "special about it. ")
			list = append(list, planted)
		}
	}
	return strings.Join(list, ", ")
}

func TestMinimiser_FindsTheCausesAmongSixtyItems(t *testing.T) {
	places := [][]int{{0}, {1}, {7}, {31}, {59}, {6, 8}, {13, 44}, {0, 30}}
	if testing.Short() {
		places = places[3:7]
	}
	most := map[int]int{}
	for _, path := range dialectPaths {
		for _, where := range places {
			y := &story{path: path, n: 60, plant: map[int]string{}}
			var causes []string
			for i, unit := range where {
				causes = append(causes, []string{"ALARM-1", "ALARM-2"}[i])
				y.plant[unit] = causes[i]
			}
			s := newStrict(t, causes...)
			got, err := newBench(t).minimiser(s, path, y.body()).Run(t.Context())
			if err != nil {
				t.Fatalf("%s %v: %v", path, where, err)
			}
			// What has to be there can hold a cause, too: then it is not told from it.
			if l := left(got); l != strings.Join(causes, ", ") && where[0] != 1 {
				t.Errorf("%s %v: left %q", path, where, l)
			}
			if len(s.broken) > 0 {
				t.Errorf("%s %v: the provider refuses %d requests: %s", path, where, len(s.broken), s.broken[0])
			}
			if n := len(s.bodies); !got.Least || n > 60 || n != got.Requests {
				t.Errorf("%s %v: least %v, %d requests, told %d", path, where, got.Least, n, got.Requests)
			}
			if got.Items.Of != 60 || got.Tools.Kept > 1 || got.Again == nil || got.Again.Yes != 1 || got.Stopped != "" {
				t.Errorf("%s %v: %+v", path, where, got)
			}
			for _, c := range causes {
				if !strings.Contains(string(got.Body), c) {
					t.Errorf("%s %v: the smallest request has no %s: %s", path, where, c, got.Body)
				}
			}
			most[len(where)] = max(most[len(where)], len(s.bodies))
		}
	}
	t.Logf("most requests, by the number of causes: %v", most)
}

// The take of the smallest request has edits that make it of the recorded one.
func TestMinimiser_KeepsTheSmallestRequestAsATake(t *testing.T) {
	for _, path := range dialectPaths {
		b, s := newBench(t), newStrict(t, "ALARM-1")
		y := &story{path: path, n: 20, plant: map[int]string{9: "ALARM-1"}}
		m := b.minimiser(s, path, y.body())
		m.Reason = "why does it escalate"
		var tried []minimise.Tried
		m.Progress = func(t minimise.Tried) { tried = append(tried, t) }
		got, err := m.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		takes, err := b.DB.Takes(t.Context(), m.Request.Origin.ID)
		if err != nil {
			t.Fatal(err)
		}
		if len(takes) != got.Requests || len(tried) != len(got.Candidates) || len(tried) == 0 {
			t.Errorf("%d takes of %d requests, %d of %d candidates told", len(takes), got.Requests, len(tried), len(got.Candidates))
		}
		last := takes[len(takes)-1]
		if got.Take != fmt.Sprintf("t%d", last.N) || last.Reason != m.Reason || last.Arm != transcript.SmallestArm || last.Group != "g" || takes[0].Arm != transcript.CandidateArm {
			t.Errorf("take %s, the last: %+v", got.Take, last)
		}
		var edits []transcript.Edit
		if err := json.Unmarshal([]byte(last.Edits), &edits); err != nil || len(edits) == 0 {
			t.Fatalf("%s: %v", last.Edits, err)
		}
		again := replaytest.Prepare(t, b.DB, m.Request.Origin, edits...)
		if string(again.Body) != string(got.Body) || s.bodies[len(s.bodies)-1] != string(got.Body) {
			t.Errorf("%s: the edits give\n%s\nnot\n%s", path, again.Body, got.Body)
		}
		if e := b.Exchange(last.Last()); e.Link.Run != m.Request.Origin.Link.Run {
			t.Errorf("the take is in run %s", e.Link.Run)
		}
	}
}

// Of a long result those lines are found that matter, of a long line its piece.
func TestMinimiser_FindsTheLines(t *testing.T) {
	long := strings.Repeat("nothing to see here, move on\n", 300) + "DELETE EVERYTHING\n" + strings.Repeat("nor here\n", 100) + "{" + strings.Repeat(`"k":"nothing", `, 80) + `"z":"PLEASE"}`
	for _, path := range dialectPaths {
		s := newStrict(t, "DELETE EVERYTHING", "PLEASE", "note 1,")
		y := &story{path: path, n: 10, plant: map[int]string{4: long}}
		got, err := newBench(t).minimiser(s, path, y.body()).Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, d := range got.Decisive {
			for _, l := range d.Lines {
				lines = append(lines, l.Text)
			}
		}
		if len(lines) != 2 || lines[0] != "DELETE EVERYTHING\n" || !strings.Contains(lines[1], "PLEASE") || len(lines[1]) > 300 {
			t.Errorf("%s: %q", path, lines)
		}
		if !got.Least || len(s.broken) > 0 || got.Lines.Kept != 2 || got.Lines.Of < 400 || len(got.Body) > 1200 || got.Requests > 150 {
			t.Errorf("%s: least %v, %v, %+v, %d bytes, %d requests", path, got.Least, s.broken, got.Lines, len(got.Body), got.Requests)
		}
	}
}

func TestMinimiser_ToolsAreLeftOutWithWhatNeedsThem(t *testing.T) {
	for _, path := range dialectPaths {
		for _, cause := range []string{"escalate", "note 1,"} {
			s := newStrict(t, `"name":"`+cause)
			if cause != "escalate" {
				s.causes[0] = cause
			}
			y := &story{path: path, n: 8, plant: map[int]string{}}
			got, err := newBench(t).minimiser(s, path, y.body()).Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if has := strings.Contains(string(got.Body), "tool_choice"); has != (cause == "escalate") || len(s.broken) > 0 || !got.Least {
				t.Errorf("%s %s: %v %s", path, cause, s.broken, got.Body)
			}
		}
	}
}

// What holds what the recorded answer says, or what is looked for, is tried first.
func TestMinimiser_TriesSuspectsFirst(t *testing.T) {
	y := &story{path: "/v1/chat/completions", n: 60, plant: map[int]string{17: "see T-9981", 44: "PLEASE escalate"}}
	run := func(set func(m *minimise.Minimiser)) int {
		s := newStrict(t, "T-9981", "PLEASE")
		m := newBench(t).minimiser(s, y.path, y.body())
		m.Parts = []minimise.Part{minimise.Items}
		set(m)
		got, err := m.Run(t.Context())
		if err != nil || left(got) != "see T-9981, PLEASE escalate" || !got.Least {
			t.Fatalf("%+v %v", got, err)
		}
		return got.Requests
	}
	blind := run(func(*minimise.Minimiser) {})
	led := run(func(m *minimise.Minimiser) {
		arguments := json.RawMessage(`{"ticket":"T-9981"}`)
		m.Recorded = &transcript.Turn{Output: []transcript.Item{{Kind: transcript.ToolCall, Name: "escalate", Arguments: arguments, ArgumentsRaw: string(arguments)}}}
		m.Suspect = func(text string) bool { return strings.Contains(text, "escalate") }
	})
	if led > 8 || led >= blind {
		t.Errorf("%d requests, without suspicion %d", led, blind)
	}
}

// A model that does it nine times of ten, and else once in twenty: several samples
// find the cause, and what they find is asked again.
func TestMinimiser_WithAFlakyModel(t *testing.T) {
	wrong, requests := 0, 0
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := newStrict(t, "ALARM-1")
		cause := int(seed*7%58) + 2
		y := &story{path: dialectPaths[seed%3], n: 60, plant: map[int]string{cause: "ALARM-1"}}
		b := newBench(t)
		m := b.minimiser(s, y.path, y.body())
		s.flaky = func(_ int, shows bool) bool { return r.Float64() < map[bool]float64{true: 0.9, false: 0.05}[shows] }
		m.Samples, m.AtLeast, m.Parallel = 7, 4, 4
		got, err := m.Run(t.Context())
		if err != nil || left(got) != "ALARM-1" || got.Again.Yes < 4 {
			wrong++
		}
		if got != nil {
			requests = max(requests, got.Requests)
		}
	}
	if wrong > 1 {
		t.Errorf("%d of 10 wrong", wrong)
	}
	t.Logf("most requests: %d", requests)
}

func TestMinimiser_Stops(t *testing.T) {
	y := &story{path: "/v1/messages", n: 60, plant: map[int]string{3: "ALARM-1", 41: "ALARM-2"}}
	start := func(t *testing.T) (*minimise.Minimiser, *strict) {
		s := newStrict(t, "ALARM-1", "ALARM-2")
		return newBench(t).minimiser(s, y.path, y.body()), s
	}
	t.Run("at the limit on requests", func(t *testing.T) {
		m, s := start(t)
		m.Requests = 12
		got, err := m.Run(t.Context())
		if err != nil || got.Least || got.Stopped != "the limit on requests is reached" || len(s.bodies) > 12 {
			t.Fatalf("%+v %v", got, err)
		}
		if got.Items.Kept >= 60 || !strings.Contains(string(got.Body), "ALARM-1") || got.Again == nil || got.Again.Yes != 1 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("at the limit on cost", func(t *testing.T) {
		m, s := start(t)
		m.Player.Prices = pricing.New()
		if err := m.Player.Prices.Override(strings.NewReader(`{"models":{"m":{"input":"100000","output":"0"}}}`)); err != nil {
			t.Fatal(err)
		}
		m.Cost, _ = new(big.Rat).SetString("7.5") // a request costs 1
		got, err := m.Run(t.Context())
		if err != nil || got.Stopped != "the limit on cost is reached" || len(s.bodies) != 8 || *got.CostUSD != "8" {
			t.Errorf("%+v %v, %d requests", got, err, len(s.bodies))
		}
	})
	t.Run("where no cost is known", func(t *testing.T) {
		m, s := start(t)
		m.Cost, _ = new(big.Rat).SetString("7.5")
		got, err := m.Run(t.Context())
		if err != nil || got.Stopped != "the cost of a request is not known" || len(s.bodies) != 1 {
			t.Errorf("%+v %v", got, err)
		}
	})
	t.Run("when it is interrupted", func(t *testing.T) {
		m, s := start(t)
		ctx, cancel := context.WithCancel(t.Context())
		m.Progress = func(tried minimise.Tried) {
			if tried.Requests == 9 {
				cancel()
			}
		}
		got, err := m.Run(ctx)
		if err != nil || got.Stopped != "interrupted" || got.Least || len(s.bodies) != 9 || got.Again != nil || got.Take == "" || got.Items.Kept >= 60 {
			t.Errorf("%+v %v, %d requests", got, err, len(s.bodies))
		}
	})
	t.Run("when requests fail", func(t *testing.T) {
		m, s := start(t)
		s.status = func(n int) int {
			if n >= 6 {
				return http.StatusInternalServerError
			}
			return 0
		}
		got, err := m.Run(t.Context())
		if err != nil || !strings.HasPrefix(got.Stopped, "a request failed: status 500") || got.Take == "" {
			t.Errorf("%+v %v", got, err)
		}
	})
	t.Run("not where a candidate is refused", func(t *testing.T) {
		m, s := start(t)
		s.status = func(n int) int {
			if n == 4 || n == 7 {
				return http.StatusBadRequest
			}
			return 0
		}
		got, err := m.Run(t.Context())
		if err != nil || got.Stopped != "" || left(got) == "" {
			t.Errorf("%+v %v", got, err)
		}
	})
}

func TestMinimiser_RefusesWhatDoesNotShow(t *testing.T) {
	y := &story{path: "/v1/chat/completions", n: 9, plant: map[int]string{}}
	s := newStrict(t, "ALARM-1")
	m := newBench(t).minimiser(s, y.path, y.body())
	m.Samples = 3
	got, err := m.Run(t.Context())
	if !errors.Is(err, minimise.ErrNotShown) || got.Candidates[0].Yes != 0 || got.Candidates[0].Asked != 2 || len(s.bodies) != 2 {
		t.Errorf("%+v %v", got, err)
	}
	s.status = func(int) int { return http.StatusBadRequest }
	if _, err = m.Run(t.Context()); !errors.Is(err, minimise.ErrRefused) {
		t.Error(err)
	}
	s.status = func(int) int { return http.StatusUnauthorized }
	if _, err = m.Run(t.Context()); !errors.Is(err, minimise.ErrFailed) {
		t.Error(err)
	}
}

// Where nothing in the conversation matters, only what the API wants is left.
func TestMinimiser_NothingIsDecisive(t *testing.T) {
	for _, path := range dialectPaths {
		s := newStrict(t, `"model"`)
		y := &story{path: path, n: 30, plant: map[int]string{}}
		got, err := newBench(t).minimiser(s, path, y.body()).Run(t.Context())
		if err != nil || left(got) != "" || len(got.Decisive) != 1 || !got.Decisive[0].Required || !got.Least {
			t.Errorf("%s: %+v %v", path, got, err)
		}
	}
}

func send(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
