package lint_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/transcript"
)

// expectation is what a case says of one exchange.
type expectation struct {
	Lint []struct {
		Code     string        `json:"code"`
		Severity lint.Severity `json:"severity"`
		CallID   *string       `json:"call_id"`
		At       *string       `json:"at"`
		Offset   *int          `json:"offset"`
		Reason   string        `json:"reason"`
		Requires string        `json:"requires"`
		Next     string        `json:"expected_next"`
		Detail   string        `json:"detail"`
	} `json:"lint"`
	Forbidden []string `json:"lint_forbidden"`
}

// TestCases holds what went wrong for people: testdata/cases/ID has request and
// response of each exchange, and in expect.json what must and must not be found.
func TestCases(t *testing.T) {
	dirs, _ := filepath.Glob("testdata/cases/*")
	if len(dirs) == 0 {
		t.Fatal("no case found")
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			requests, _ := filepath.Glob(filepath.Join(dir, "*request.json"))
			if len(requests) == 0 {
				t.Fatal("no request found")
			}
			var first *lint.Step
			for _, name := range requests {
				number := strings.TrimSuffix(filepath.Base(name), "request.json")
				step := caseStep(t, dir, number)
				if first != nil {
					link(&step, first)
				}
				want := caseWant(t, dir, strings.TrimSuffix(number, "."))
				checkCase(t, number, want, lint.Exchange(step, first))
				if first == nil {
					first = &step
				}
			}
		})
	}
}

func caseStep(t *testing.T, dir, number string) lint.Step {
	w := &dialect.Wire{Method: "POST", Status: 200, Request: read(t, filepath.Join(dir, number+"request.json"))}
	kind := "application/json"
	body, err := os.ReadFile(filepath.Join(dir, number+"response.json"))
	if err != nil {
		kind, body = "text/event-stream", read(t, filepath.Join(dir, number+"response.sse"))
	}
	w.Response, w.ResponseHeader = body, map[string][]string{"Content-Type": {kind}}
	headers, err := os.ReadFile(filepath.Join(dir, number+"headers.json"))
	if err != nil {
		headers = read(t, filepath.Join(dir, "headers.json"))
	}
	var h struct {
		Request  struct{ Path string }
		Response struct{ Status int }
	}
	if err := json.Unmarshal(headers, &h); err != nil {
		t.Fatal(err)
	}
	w.URL, w.Status = h.Request.Path, h.Response.Status
	turn := dialect.Decode(dialect.Recognise(w), w)
	e := &transcript.Exchange{ID: "x" + number, Link: transcript.Link{Agent: "a", Step: 1, Attempt: 1}}
	e.Link.InLen = len(transcript.Keys(turn.Input))
	e.Link.OutLen = e.Link.InLen + len(transcript.Keys(turn.Output))
	return lint.Step{Exchange: e, Turn: turn}
}

// link says that a step continues the first one.
func link(s, first *lint.Step) {
	history := append(transcript.Keys(first.Turn.Input), transcript.Keys(first.Turn.Output)...)
	l := &s.Exchange.Link
	l.Parent, l.Step = first.Exchange.ID, 2
	for input := transcript.Keys(s.Turn.Input); l.Shared < min(len(history), len(input)) && history[l.Shared] == input[l.Shared]; l.Shared++ {
	}
}

func read(t *testing.T, name string) []byte {
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func caseWant(t *testing.T, dir, number string) (want expectation) {
	raw := json.RawMessage(read(t, filepath.Join(dir, "expect.json")))
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	if one, ok := all[number]; ok {
		raw = one
	}
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	return want
}

func checkCase(t *testing.T, number string, want expectation, findings []lint.Finding) {
	t.Helper()
	for _, w := range want.Lint {
		found := only(w.Code, findings)
		if len(found) != 1 {
			t.Errorf("%s: %s found %d times, among %s", number, w.Code, len(found), list(findings))
			continue
		}
		f := found[0]
		same := f.Severity == w.Severity && (w.CallID == nil || *w.CallID == f.CallID) && (w.At == nil || *w.At == f.At) &&
			(w.Offset == nil || f.Offset != nil && *w.Offset == *f.Offset)
		for _, said := range []string{strings.ReplaceAll(w.Reason, "_", " "), w.Requires, w.Next, w.Detail} {
			same = same && strings.Contains(f.Message, said)
		}
		if !same {
			t.Errorf("%s: want %+v, got %s offset %v", number, w, list(found), f.Offset)
		}
	}
	for _, code := range want.Forbidden {
		if found := only(code, findings); len(found) > 0 {
			t.Errorf("%s: %s", number, list(found))
		}
	}
	if len(want.Lint) == 0 {
		for _, f := range findings {
			if f.Severity == lint.Error {
				t.Errorf("%s: %s", number, list([]lint.Finding{f}))
			}
		}
	}
}
