package dialect

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/transcript"
)

// A request that grows is byte for byte what Continue makes, step for step, and what
// it was before is untouched where somebody may still read it.
func TestGrowing_GivesWhatContinueDoes(t *testing.T) {
	answers := map[transcript.Dialect]string{
		transcript.Chat:      `{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"c%d","type":"function","function":{"name":"f","arguments":"{}"}}]}}]}`,
		transcript.Messages:  ` {"content":[{"type":"text","text":""},{"type":"thinking","thinking":"hm","signature":"x\/="},{"type":"tool_use","id":"c%d","name":"f","input":{"n":1.10}}]}`,
		transcript.Responses: `{"id":"r%[1]d","output":[{"type":"reasoning","id":"rs","encrypted_content":"y"},{"type":"function_call","call_id":"c%[1]d","name":"f","arguments":"{}"}]}`,
	}
	bodies := []string{
		`{"messages":[]}`, "\n{ \"model\":\"m\", \"messages\" : [ {\"role\":\"user\",\"content\":\"a]\"} ] , \"n\":1e3 }",
		`{"messages":[{"role":"user","content":"a"},` + "\n\t" + `{"role":"user","content":"b"}  ],"input":[]}`,
		`{"input":"text"}`, `{"input":[{"role":"user","content":"x"}],"messages":[1]}`, `{"messages":[{}],"previous_response_id":"r0","input":"x"}`, `{"messages":[{}],"input":[],"conversation":"c"}`,
	}
	checked := 0
	for d, answer := range answers {
		for n, body := range append(bodies, bodies...) {
			over := n >= len(bodies)
			g, want := NewGrowing(d, []byte(body)), []byte(body)
			for step := range 4 {
				response := []byte(fmt.Sprintf(answer, step))
				results := []api.Result{{CallID: fmt.Sprint("c", step), Text: "a \"result\"\n"}, {CallID: "r", Raw: []byte(`{"role":"tool","type":"function_call_output","content":[1 ],"tool_call_id":"o"}`)}}[:step%3]
				before := bytes.Clone(g.Body())
				kept := g.Body()
				next, err := Continue(d, want, response, results)
				got, gotErr := g.Continue(response, results, over)
				if (err == nil) != (gotErr == nil) || err == nil && !bytes.Equal(got, next) {
					t.Fatalf("%s, step %d of %s:\n%s, %v\nwant\n%s, %v", d, step, body, got, gotErr, next, err)
				}
				if !over && !bytes.Equal(before, kept) {
					t.Fatalf("%s: an earlier body has changed", d)
				}
				if err != nil {
					break
				}
				want = next
				checked++
			}
		}
	}
	if checked < 80 {
		t.Errorf("only %d steps were checked", checked)
	}
}
