package dialect

import (
	"slices"
	"testing"

	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/transcript"
)

// wrap makes the request of a dialect that holds these messages or items.
var wrap = map[transcript.Dialect]func(string) string{
	transcript.Chat:      func(s string) string { return `{"model":"m","messages":[` + s + `]}` },
	transcript.Messages:  func(s string) string { return `{"model":"m","messages":[` + s + `]}` },
	transcript.Responses: func(s string) string { return `{"model":"m","input":[` + s + `]}` },
}

func keysOf(d transcript.Dialect, messages string) []transcript.Key {
	return transcript.Keys(Decode(d, &api.Wire{Method: "POST", Request: []byte(wrap[d](messages))}).Input)
}

// What clients may change when they send a history again.
func TestKeys_TheSameHistoryWrittenOtherwise(t *testing.T) {
	tests := []struct {
		name    string
		dialect transcript.Dialect
		a, b    string
	}{
		{"a string or parts", transcript.Chat, `{"role":"user","content":"hi"}`, `{"role":"user","content":[{"type":"text","text":"hi"}]}`},
		{"a string or parts", transcript.Messages, `{"role":"user","content":"hi"}`, `{"role":"user","content":[{"type":"text","text":"hi"}]}`},
		{"a string or parts", transcript.Responses, `{"role":"user","content":"hi"}`, `{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}`},
		{"a result as a string or parts", transcript.Chat, `{"role":"tool","tool_call_id":"c","content":"r"}`, `{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"r"}]}`},
		{"a result as a string or parts", transcript.Messages, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"r"}]}`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"r"}],"is_error":false}]}`},
		{"a result as a string or parts", transcript.Responses, `{"type":"function_call_output","call_id":"c","output":"r"}`, `{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"r"}],"id":"fco_1","status":"completed"}`},
		{"a result without content", transcript.Messages, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c"}]}`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":""}]}`},
		{"reasoning left out", transcript.Chat, `{"role":"assistant","reasoning_content":"hm","content":"yes"}`, `{"role":"assistant","content":"yes"}`},
		{"reasoning under another name", transcript.Chat, `{"role":"assistant","reasoning_content":"hm","content":"yes"}`, `{"role":"assistant","reasoning_details":[{"type":"reasoning.text","text":"hm"}],"content":"yes"}`},
		{"reasoning left out", transcript.Messages, `{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"x"},{"type":"text","text":"yes"}]}`, `{"role":"assistant","content":"yes"}`},
		{"reasoning left out", transcript.Responses, `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"},{"role":"assistant","content":"yes"}`, `{"role":"assistant","content":"yes"}`},
		{"content null, absent or empty", transcript.Chat, `{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}`, `{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}`},
		{"content null, absent or empty", transcript.Chat, `{"role":"assistant","content":"","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}`, `{"role":"assistant","content":[],"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}],"refusal":null,"audio":null,"function_call":null}`},
		{"an empty text beside a call", transcript.Messages, `{"role":"assistant","content":[{"type":"text","text":""},{"type":"tool_use","id":"c","name":"f","input":{}}]}`, `{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]}`},
		{"arguments written otherwise", transcript.Chat, `{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"b\": 1.50, \"a\": \"\\u00fc\"}"}}]}`, `{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\":\"ü\",\"b\":1.5}"}}]}`},
		{"arguments written otherwise", transcript.Messages, `{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{"b":1e3,"a":[1, 2]}}]}`, `{"role":"assistant","content":[{"input":{"a":[1,2],"b":1000},"name":"f","id":"c","type":"tool_use"}]}`},
		{"no arguments", transcript.Chat, `{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":""}}]}`, `{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]}`},
		{"key order", transcript.Responses, `{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}`, `{"arguments":"{}","name":"f","call_id":"c","type":"function_call"}`},
		{"a cache mark moved", transcript.Messages, `{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}`, `{"role":"user","content":[{"type":"text","text":"hi"}]}`},
		{"a cache mark moved from an image", transcript.Messages, `{"role":"user","content":[{"type":"image","source":{"type":"url","url":"u"},"cache_control":{"type":"ephemeral"}}]}`, `{"role":"user","content":[{"type":"image","source":{"url":"u","type":"url"}}]}`},
		{"a member of an image that is null", transcript.Chat, `{"role":"user","content":[{"type":"image_url","image_url":{"url":"u","detail":null}}]}`, `{"role":"user","content":[{"type":"image_url","image_url":{"url":"u"}}]}`},
		{"camel case", transcript.Chat, `{"role":"user","content":[{"type":"file","inlineData":{"mimeType":"a/b","data":"x"}}]}`, `{"role":"user","content":[{"type":"file","inline_data":{"mime_type":"a/b","data":"x"}}]}`},
		{"another line in the system prompt", transcript.Messages, `{"role":"system","content":"It is Monday."},{"role":"user","content":"hi"}`, `{"role":"system","content":"It is Tuesday."},{"role":"user","content":"hi"}`},
		{"minted ids", transcript.Responses, `{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"yes","annotations":[],"logprobs":[]}]}`, `{"role":"assistant","content":[{"type":"output_text","text":"yes"}]}`},
		{"minted ids", transcript.Responses, `{"type":"function_call","id":"fc_1","call_id":"c","name":"f","arguments":"{}","status":"completed"}`, `{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}`},
		{"minted ids of an unknown item", transcript.Responses, `{"type":"mcp_approval_response","id":"a_1","status":"done","approval_request_id":"r","approve":true}`, `{"type":"mcp_approval_response","approval_request_id":"r","approve":true}`},
		{"a compaction encrypted anew", transcript.Responses, `{"type":"compaction","id":"cmp_1","encrypted_content":"x"}`, `{"type":"compaction","id":"cmp_1","encrypted_content":"y"}`},
		{"white space at the end of an answer", transcript.Messages, `{"role":"assistant","content":"yes \n"}`, `{"role":"assistant","content":"yes"}`},
		{"a name on a result", transcript.Chat, `{"role":"tool","tool_call_id":"c","name":"f","content":"r"}`, `{"role":"tool","tool_call_id":"c","content":"r"}`},
	}
	for _, tt := range tests {
		t.Run(string(tt.dialect)+" "+tt.name, func(t *testing.T) {
			a, b := keysOf(tt.dialect, tt.a), keysOf(tt.dialect, tt.b)
			if len(a) == 0 || !slices.Equal(a, b) {
				t.Errorf("%d and %d keys, want the same", len(a), len(b))
			}
		})
	}
}

// What changes the meaning.
func TestKeys_AnotherHistory(t *testing.T) {
	tests := []struct {
		name    string
		dialect transcript.Dialect
		a, b    string
	}{
		{"two images", transcript.Messages, `{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}`, `{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAB"}}]}`},
		{"two images", transcript.Chat, `{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:1"}}]}`, `{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:2"}}]}`},
		{"the detail of an image", transcript.Chat, `{"role":"user","content":[{"type":"image_url","image_url":{"url":"u","detail":"low"}}]}`, `{"role":"user","content":[{"type":"image_url","image_url":{"url":"u","detail":"high"}}]}`},
		{"two images in a result", transcript.Messages, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"image","source":{"data":"A"}}]}]}`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"image","source":{"data":"B"}}]}]}`},
		{"the speaker", transcript.Chat, `{"role":"user","content":"hi"}`, `{"role":"assistant","content":"hi"}`},
		{"white space in what a user says", transcript.Chat, `{"role":"user","content":"a b"}`, `{"role":"user","content":"a  b"}`},
		{"white space at the end of what a user says", transcript.Chat, `{"role":"user","content":"a"}`, `{"role":"user","content":"a "}`},
		{"a null argument", transcript.Chat, `{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\"a\":null}"}}]}`, `{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]}`},
		{"an argument named like a cache mark", transcript.Chat, `{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\"cache_control\":1}"}}]}`, `{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\"cache_control\":2}"}}]}`},
		{"an argument in camel case", transcript.Chat, `{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\"aB\":1}"}}]}`, `{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\"a_b\":1}"}}]}`},
		{"a string for a number", transcript.Chat, `{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\"a\":1}"}}]}`, `{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\"a\":\"1\"}"}}]}`},
		{"a large number", transcript.Chat, `{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\"a\":9007199254740993}"}}]}`, `{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\"a\":9007199254740992}"}}]}`},
		{"the order of a list", transcript.Messages, `{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{"a":[1,2]}}]}`, `{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{"a":[2,1]}}]}`},
		{"a call id", transcript.Messages, `{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]}`, `{"role":"assistant","content":[{"type":"tool_use","id":"d","name":"f","input":{}}]}`},
		{"a failure", transcript.Messages, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"r","is_error":true}]}`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"r"}]}`},
		{"an item that is referred to", transcript.Responses, `{"type":"item_reference","id":"msg_1"}`, `{"type":"item_reference","id":"msg_2"}`},
		{"an item that is referred to without a type", transcript.Responses, `{"id":"msg_1"}`, `{"id":"msg_2"}`},
		{"two compactions", transcript.Responses, `{"type":"compaction","id":"cmp_1","encrypted_content":"x"}`, `{"type":"compaction","id":"cmp_2","encrypted_content":"x"}`},
		{"two summaries", transcript.Messages, `{"role":"assistant","content":[{"type":"compaction","content":"a"}]}`, `{"role":"assistant","content":[{"type":"compaction","content":"b"}]}`},
		{"two approvals", transcript.Responses, `{"type":"mcp_approval_response","approval_request_id":"r","approve":true}`, `{"type":"mcp_approval_response","approval_request_id":"r","approve":false}`},
		{"the border between messages", transcript.Chat, `{"role":"user","content":"ab"},{"role":"user","content":"c"}`, `{"role":"user","content":"a"},{"role":"user","content":"bc"}`},
	}
	for _, tt := range tests {
		t.Run(string(tt.dialect)+" "+tt.name, func(t *testing.T) {
			a, b := keysOf(tt.dialect, tt.a), keysOf(tt.dialect, tt.b)
			if len(a) == 0 || slices.Equal(a, b) {
				t.Errorf("%d and %d keys, want them to differ", len(a), len(b))
			}
		})
	}
}
