package lint_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/transcript"
)

// exchange is a request and its answer; without one the request is judged alone.
type exchange struct{ request, response string }

// codeCase is a run that must give a finding with a code and, changed a little,
// one that must not.
type codeCase struct {
	code     string
	severity lint.Severity
	at       string
	dialect  transcript.Dialect
	run      []exchange
	near     []exchange
}

var paths = map[transcript.Dialect]string{transcript.Chat: "/v1/chat/completions", transcript.Responses: "/v1/responses", transcript.Messages: "/v1/messages"}

// stepsOf decodes a run and links each exchange to the one before.
func stepsOf(d transcript.Dialect, run []exchange) []lint.Step {
	var steps []lint.Step
	var history []transcript.Key
	for i, x := range run {
		w := &dialect.Wire{Method: "POST", URL: paths[d], Request: []byte(x.request), Response: []byte(x.response)}
		t := dialect.Decode(d, w)
		input := transcript.Keys(t.Input)
		e := &transcript.Exchange{ID: fmt.Sprintf("x%d", i+1), Dialect: d, Model: t.Model, Outcome: transcript.OK, Usage: t.Usage}
		e.Link = transcript.Link{Agent: "a", Step: i + 1, Attempt: 1, InLen: len(input)}
		if i > 0 {
			e.Link.Parent = steps[i-1].Exchange.ID
			for e.Link.Shared < min(len(history), len(input)) && history[e.Link.Shared] == input[e.Link.Shared] {
				e.Link.Shared++
			}
		}
		history = append(input, transcript.Keys(t.Output)...)
		if t.PreviousID != "" && i > 0 {
			e.Link.InLen += steps[i-1].Exchange.Link.OutLen
		}
		e.Link.OutLen = e.Link.InLen + len(transcript.Keys(t.Output))
		steps = append(steps, lint.Step{Exchange: e, Turn: t})
	}
	return steps
}

func judge(d transcript.Dialect, run []exchange) []lint.Finding {
	var j lint.Judge
	for _, s := range stepsOf(d, run) {
		j.Step(s)
	}
	return j.Findings()
}

func only(code string, findings []lint.Finding) []lint.Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f lint.Finding) bool { return f.Code != code })
}

func TestJudge_EachCode(t *testing.T) {
	tested := map[string]bool{}
	for _, c := range codeCases() {
		tested[c.code] = true
		t.Run(c.code+"/"+string(c.dialect), func(t *testing.T) {
			all := judge(c.dialect, c.run)
			found := only(c.code, all)
			if len(found) != 1 {
				t.Fatalf("found %d times, among %s", len(found), list(all))
			}
			if f := found[0]; f.Severity != c.severity || f.At != c.at || f.Message == "" {
				t.Errorf("found %s at %q (%s)", f.Severity, f.At, f.Message)
			}
			if near := only(c.code, judge(c.dialect, c.near)); len(near) > 0 {
				t.Errorf("the near miss gives %s", list(near))
			}
		})
	}
	for _, c := range lint.Codes() {
		if !tested[c.Name] {
			t.Errorf("%s has no case", c.Name)
		}
	}
}

func list(findings []lint.Finding) string {
	var lines []string
	for _, f := range findings {
		lines = append(lines, fmt.Sprintf("%s %s %s %s %s: %s", f.Severity, f.Code, f.Exchange, f.Body, f.At, f.Message))
	}
	return strings.Join(lines, "\n\t")
}

func TestCodes_AreExplainedOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range lint.Codes() {
		if seen[c.Name] || c.Means == "" || c.Example == "" {
			t.Errorf("%s: twice, or not explained", c.Name)
		}
		seen[c.Name] = true
	}
}
