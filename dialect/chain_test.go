package dialect

import (
	"strings"
	"testing"

	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/transcript"
)

// chainKeys are the keys of the items that count for a history.
func chainKeys(items []transcript.Item) (keys []transcript.Key, kept []*transcript.Item) {
	for i := range items {
		if items[i].InChain() {
			keys = append(keys, transcript.KeyOf(&items[i]))
			kept = append(kept, &items[i])
		}
	}
	return keys, kept
}

// Where a request of the corpus holds the history of an earlier exchange of
// its file and more, the answer of that exchange must come next, with equal
// keys. Some recorded clients change what they send back; those are listed.
func TestCorpus_AnswersComeBackWithEqualKeys(t *testing.T) {
	type step struct {
		key     string
		dialect transcript.Dialect
		turn    *transcript.Turn
	}
	files := map[string][]step{}
	for _, x := range corpusCases(t) {
		if _, ok := corpusDialects[x.want.Family]; !ok || x.want.Depth != "full" {
			continue
		}
		file, _, _ := strings.Cut(x.key, "#")
		d := Recognise(x.wire)
		files[file] = append(files[file], step{x.key, d, Decode(d, x.wire)})
	}
	extended, equal := 0, 0
	for _, steps := range files {
		for i, a := range steps {
			in, _ := chainKeys(a.turn.Input)
			out, outItems := chainKeys(a.turn.Output)
			if len(in) == 0 || len(out) == 0 {
				continue
			}
			for _, b := range steps[i+1:] {
				next, nextItems := chainKeys(b.turn.Input)
				if b.dialect != a.dialect || len(next) < len(in)+len(out) || !samePrefix(in, next) {
					continue
				}
				extended++
				rest := next[len(in):]
				if samePrefix(out, rest) {
					equal++
				} else {
					for k := range out {
						if out[k] != rest[k] {
							t.Logf("%s → %s: answer %s %.300s\n   came back as %s %.300s", a.key, b.key, outItems[k].At, outItems[k].Raw, nextItems[len(in)+k].At, nextItems[len(in)+k].Raw)
							break
						}
					}
				}
				break
			}
		}
	}
	if extended == 0 {
		t.Fatal("no case found: no request extends another")
	}
	t.Logf("%d of %d answers come back with equal keys", equal, extended)
	if equal*100 < extended*90 {
		t.Errorf("only %d of %d answers come back with equal keys", equal, extended)
	}
}

func samePrefix(a, b []transcript.Key) bool {
	if len(a) > len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// An answer and what a client makes of it in its next request are the same
// items: arguments written anew, reasoning left out, a string for parts, null
// for "", cache marks moved, ids of items dropped.
func TestChain_AnswerAndResentHistoryAreTheSame(t *testing.T) {
	for _, c := range []struct{ answers, resent string }{
		{"chat/parallel_calls", `{"messages":[{"role":"assistant","content":[{"type":"text","text":"Look"},{"type":"text","text":"ing.","cache_control":{"type":"ephemeral"}}],
			"tool_calls":[{"index":0,"type":"function","function":{"arguments":"{ \"city\":\"K\u00f6ln\" }","name":"get_weather"},"id":"call_a"},{"id":"call_b","type":"function","function":{"name":"get_weather","arguments":"{\"n\":1.10,\"city\":\"Rom\"}"}}]}]}`},
		{"chat/thinking_parts", `{"messages":[{"role":"assistant","content":"Four."}]}`},
		{"chat/reasoning_details", `{"messages":[{"role":"assistant","content":"Yes.","reasoning_details":[]}]}`},
		{"chat/legacy_function", `{"messages":[{"role":"assistant","content":"","function_call":{"name":"f","arguments":"{\"a\":1}"}}]}`},
		{"chat/custom_and_audio", `{"messages":[{"role":"assistant","audio":{"id":"audio_1"},"tool_calls":[{"id":"call_c","type":"custom","custom":{"name":"sh","input":"echo \"hi\""}}]}]}`},
		{"chat/history", `{"messages":[{"role":"assistant","content":[{"type":"refusal","refusal":"I cannot."}]}]}`},
		{"messages/tools", `{"messages":[{"role":"assistant","content":[{"type":"text","text":"Let me look."},{"type":"tool_use","id":"toolu_1","name":"get_weather","input":{"n":1.10,"city":"K\u00f6ln"}},{"type":"tool_use","id":"toolu_2","name":"now","input":{},"cache_control":{"type":"ephemeral"}}]}]}`},
		{"messages/server_tools", `{"messages":[{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query": "q"}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"url":"https://a.test","type":"web_search_result","title":"T","encrypted_content":"E==","page_age":null}]},
			{"type":"text","text":"It is "},{"type":"text","text":"so"},{"type":"text","text":"."},{"type":"bash_code_execution_tool_result","tool_use_id":"srvtoolu_2","content":{"stdout":"42\n","type":"bash_code_execution_result","stderr":"","return_code":0}},
			{"type":"mcp_tool_use","id":"mcptoolu_1","name":"ask","server_name":"s","input":{}},{"type":"mcp_tool_result","tool_use_id":"mcptoolu_1","is_error":true,"content":"no"},{"from":"a","to":"b","type":"fallback"}]}]}`},
		{"responses/tools", `{"input":[{"type":"reasoning","summary":[],"encrypted_content":"other"},{"role":"assistant","content":"Let me look."},{"type":"function_call","name":"get_weather","call_id":"call_1","arguments":"{\"city\":\"K\u00f6ln\"}"},{"type":"function_call","name":"get_weather","call_id":"call_2","arguments":""}]}`},
		{"responses/client_tools", `{"input":[{"type":"custom_tool_call","call_id":"call_1","name":"sh","input":"ls \"x\""},{"type":"computer_call","call_id":"call_2","action":{"y":2,"x":1,"type":"click"}},{"type":"computer_call","call_id":"call_3","actions":[{"type":"wait"}]},
			{"type":"local_shell_call","call_id":"call_4","action":{"type":"exec","command":["ls"]}},{"type":"shell_call","call_id":"call_5","action":{"commands":["ls"]}},{"type":"apply_patch_call","call_id":"call_6","operation":{"path":"x","type":"delete_file"}},{"type":"tool_search_call","call_id":"call_7","execution":"client","arguments":{"goal":"g"}}]}`},
	} {
		found := false
		for _, name := range []string{c.answers, c.answers + "_streamed"} {
			for _, g := range goldenCases(t) {
				if g.name != name {
					continue
				}
				found = true
				answer, items := chainKeys(Decode(g.dialect, g.wire).Output)
				resent, again := chainKeys(Decode(g.dialect, &api.Wire{Request: []byte(c.resent)}).Input)
				if len(answer) != len(resent) || len(answer) == 0 {
					t.Errorf("%s: %d items in the answer, %d in the next request", name, len(answer), len(resent))
					continue
				}
				for i := range answer {
					if answer[i] != resent[i] {
						t.Errorf("%s: %s comes back as %s", name, items[i].Raw, again[i].Raw)
					}
				}
			}
		}
		if !found {
			t.Errorf("%s: no such case", c.answers)
		}
	}
}
