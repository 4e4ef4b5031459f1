package lint_test

import (
	"testing"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/transcript"
)

// Nobody sent a request that was put together to be viewed: its form is not judged.
func TestExchange_LeavesTheFormOfWhatIsOnlyViewedAlone(t *testing.T) {
	body := `{"model":"m","messages":[{"role":"user","content":"Go"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":"Well?"}]}`
	turn := dialect.Decode(transcript.Messages, &dialect.Wire{Method: "POST", Request: []byte(body)})
	for grade, want := range map[transcript.Grade]int{"": 2, transcript.Rebuilt: 2, transcript.ViewOnly: 0} {
		n := 0
		for _, f := range lint.Exchange(lint.Step{Exchange: &transcript.Exchange{Dialect: transcript.Messages, Imported: grade}, Turn: turn}, nil) {
			if f.Code == "missing_max_tokens" || f.Code == "missing_tool_result" {
				n++
			}
		}
		if n != want {
			t.Errorf("%q: %d findings about its form, want %d", grade, n, want)
		}
	}
}
