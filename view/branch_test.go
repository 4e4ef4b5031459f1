package view

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/transcript"
)

// A branch that leaves before the result of a call brings the result too: it
// answers the call of the step before, and is told again only if it says
// something else.
func TestCalls_ABranchAnswersTheCallBeforeTheFork(t *testing.T) {
	const call = `{"role":"assistant","content":[{"type":"tool_use","id":"toolu_fork1","name":"read","input":{"path":"a"}}]}`
	request := func(result, then string) string {
		return fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":"read it"},%s,{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_fork1","content":%q}]}%s]}`, call, result, then)
	}
	answer := func(content, stop string) string {
		return fmt.Sprintf(`{"type":"message","role":"assistant","model":"m","content":%s,"stop_reason":%q,"usage":{"input_tokens":9,"output_tokens":3}}`, content, stop)
	}
	const done = `[{"type":"text","text":"done"}]`
	for name, c := range map[string]struct {
		result string
		calls  int
	}{"the same result": {"hello", 1}, "another result": {"something else", 2}, "another end": {"hello, too", 2}} {
		gaveUp := caseCapture(2, time.Minute, "/v1/messages", request(c.result, ""), "")
		gaveUp.Status, gaveUp.Outcome = 0, transcript.ClientDisconnect
		db, runs := caseRuns(t,
			caseCapture(1, 0, "/v1/messages", `{"model":"m","messages":[{"role":"user","content":"read it"}]}`, answer(`[{"type":"tool_use","id":"toolu_fork1","name":"read","input":{"path":"a"}}]`, "tool_use")),
			gaveUp,
			caseCapture(3, 2*time.Minute, "/v1/messages", request("hello", `,{"role":"user","content":"go on"}`), answer(done, "end_turn")))
		if len(runs) != 1 || len(runs[0].Agents) != 1 || len(runs[0].Agents[0].Branches) != 1 {
			t.Fatalf("%s: the second request is no branch: %+v", name, runs)
		}
		calls, err := runs[0].Calls(t.Context(), db)
		if err != nil || len(calls) != c.calls {
			t.Fatalf("%s: %d calls, want %d, %v: %+v", name, len(calls), c.calls, err, calls)
		}
		told := map[string]bool{}
		for _, call := range calls {
			if call.State != transcript.Paired || call.Name != "read" || call.CallID != "toolu_fork1" || call.Arguments != `{"path":"a"}` || call.Result == nil {
				t.Fatalf("%s: %+v", name, call)
			}
			told[*call.Result] = true
		}
		if !told["hello"] || !told[c.result] {
			t.Errorf("%s: results %v", name, told)
		}
		brief, err := runs[0].BriefCalls(t.Context(), db, 4)
		if err != nil || len(brief) != len(calls) {
			t.Fatalf("%s: in brief %d calls, want %d, %v", name, len(brief), len(calls), err)
		}
		for i := range calls {
			if *brief[i].Result != transcript.Head(*calls[i].Result, 4) || brief[i].ResultBytes != calls[i].ResultBytes {
				t.Errorf("%s: in brief %+v, want the beginning of %+v", name, brief[i], calls[i])
			}
			result, arguments := *calls[i].Result, transcript.Head(calls[i].Arguments, 4)
			if brief[i].Result, brief[i].Arguments, calls[i].Arguments = &result, arguments, arguments; !cmp.Equal(calls[i], brief[i]) {
				t.Errorf("%s: in brief %+v, want %+v", name, brief[i], calls[i])
			}
		}
	}
}
