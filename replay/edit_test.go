package replay_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/analysis"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
)

var requests = map[transcript.Dialect]struct{ url, body string }{
	transcript.Chat: {"https://api.openai.com/v1/chat/completions", `{ "model":"m", "temperature":1.10,"messages":[{"role":"system","content":"a\/b"},
 {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{ \"n\":1.10 }"}},{"id":"c2","type":"custom","custom":{"name":"g","input":"ls"}}]},
 {"role":"tool","tool_call_id":"c1","content":"old"},{"role":"tool","tool_call_id":"c2","content":[{"type":"text","text":"o2"}]}]}`},
	transcript.Responses: {"https://api.openai.com/v1/responses", `{ "model":"m", "instructions":"a\/b","input":[{"role":"user","content":"hi"},
 {"type":"function_call","call_id":"c1","name":"f","arguments":"{ \"n\":1.10 }"},{"type":"custom_tool_call","call_id":"c2","name":"g","input":"ls"},
 {"type":"function_call_output","call_id":"c1","output":"old"},{"type":"custom_tool_call_output","call_id":"c2","output":"o2"}]}`},
	transcript.Messages: {"https://api.anthropic.com/v1/messages", `{ "model":"m", "max_tokens":1e3,"system":[{"type":"text","text":"a\/b","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"hi"},
 {"role":"assistant","content":[{"type":"thinking","thinking":"h","signature":"EqQB\/=="},{"type":"tool_use","id":"c1","name":"f","input":{ "n":1.10 }}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"old"}]}]}`},
}

func TestPrepare_EachEditChangesItsBytesOnly(t *testing.T) {
	yes := true
	type edit = transcript.Edit
	for _, c := range []struct {
		name     string
		dialect  transcript.Dialect
		edit     edit
		was, now string // the only bytes that change
		at       string
	}{
		{"result", transcript.Chat, edit{Op: transcript.SetResult, CallID: "c1", Text: "new"}, `"old"`, `"new"`, "/messages/2"},
		{"result in a part", transcript.Chat, edit{Op: transcript.SetResult, CallID: "c2", Text: "n2"}, `"o2"`, `"n2"`, "/messages/3"},
		{"result", transcript.Responses, edit{Op: transcript.SetResult, CallID: "c1", Text: "new"}, `"old"`, `"new"`, "/input/3"},
		{"result by its place", transcript.Responses, edit{Op: transcript.SetResult, At: "/input/4", Text: "n2"}, `"o2"`, `"n2"`, "/input/4"},
		{"result", transcript.Messages, edit{Op: transcript.SetResult, CallID: "c1", Text: "new"}, `"old"`, `"new"`, "/messages/2/content/0"},
		{"error", transcript.Messages, edit{Op: transcript.SetResult, CallID: "c1", Text: "new", IsError: &yes}, `"old"`, `"new","is_error":true`, "/messages/2/content/0"},
		{"arguments", transcript.Chat, edit{Op: transcript.SetArgs, CallID: "c1", Value: []byte(`{"n":2.0}`)}, `"{ \"n\":1.10 }"`, `"{\"n\":2.0}"`, "/messages/1/tool_calls/0"},
		{"free input", transcript.Chat, edit{Op: transcript.SetArgs, CallID: "c2", Value: []byte(`"ls -a"`)}, `"ls"`, `"ls -a"`, "/messages/1/tool_calls/1"},
		{"arguments", transcript.Responses, edit{Op: transcript.SetArgs, CallID: "c1", Value: []byte(`{"n":2.0}`)}, `"{ \"n\":1.10 }"`, `"{\"n\":2.0}"`, "/input/1"},
		{"free input", transcript.Responses, edit{Op: transcript.SetArgs, CallID: "c2", Value: []byte(`"ls -a"`)}, `"ls"`, `"ls -a"`, "/input/2"},
		{"arguments", transcript.Messages, edit{Op: transcript.SetArgs, CallID: "c1", Value: []byte(`{"n":2.0}`)}, `{ "n":1.10 }`, `{"n":2.0}`, "/messages/1/content/1"},
		{"system", transcript.Chat, edit{Op: transcript.SetSystem, Text: "s"}, `"a\/b"`, `"s"`, "/messages/0/content"},
		{"system", transcript.Responses, edit{Op: transcript.SetSystem, Text: "s"}, `"a\/b"`, `"s"`, "/instructions"},
		{"system keeps its cache mark", transcript.Messages, edit{Op: transcript.SetSystem, Text: "s"}, `"a\/b"`, `"s"`, "/system"},
		{"model", transcript.Chat, edit{Op: transcript.SetModel, Text: "k"}, `"model":"m"`, `"model":"k"`, "/model"},
		{"parameter", transcript.Chat, edit{Op: transcript.SetParam, Text: "temperature", Value: []byte(`0`)}, `1.10,"m`, `0,"m`, "/temperature"},
		{"new parameter", transcript.Messages, edit{Op: transcript.SetParam, Text: "top/k", Value: []byte(`5`)}, `"old"}]}]`, `"old"}]}],"top/k":5`, "/top~1k"},
		{"tools", transcript.Responses, edit{Op: transcript.SetTools, Value: []byte(`[ ]`)}, `"o2"}]`, `"o2"}],"tools":[ ]`, "/tools"},
		{"value", transcript.Messages, edit{Op: transcript.SetValue, At: "/messages/0/content", Value: []byte(`"ho"`)}, `"hi"`, `"ho"`, "/messages/0/content"},
		{"drop", transcript.Chat, edit{Op: transcript.Drop, At: "/temperature"}, `"temperature":1.10,`, ``, "/temperature"},
		{"insert", transcript.Responses, edit{Op: transcript.Insert, At: "/input/1", Value: []byte(`{"x":1}`)}, "\"hi\"},\n ", "\"hi\"},\n {\"x\":1},", "/input/1"},
		{"patch", transcript.Chat, edit{Op: transcript.Patch, Value: []byte(`[{"op":"test","path":"/temperature","value":1.1},{"op":"copy","from":"/model","path":"/messages/2/content"}]`)}, `"old"`, `"m"`, ""},
	} {
		t.Run(string(c.dialect)+" "+c.name, func(t *testing.T) {
			from := requests[c.dialect]
			db, e := record(t, &transcript.Capture{URL: from.url, Request: body(from.body)})
			r, err := replay.NewRequest(context.Background(), db, e, []transcript.Edit{c.edit})
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Replace(from.body, c.was, c.now, 1)
			if c.name == "insert" { // the spacing of its neighbours goes along
				if differ, ok := analysis.DiffJSON([]byte(from.body), r.Body); !ok || len(differ) != 1 || differ[0].At != c.at {
					t.Errorf("differs at %v:\n%s", differ, r.Body)
				}
			} else if string(r.Body) != want {
				t.Errorf("body\n%s\nwant\n%s", r.Body, want)
			}
			if r.Edits[0].At != c.at {
				t.Errorf("at %q, want %q", r.Edits[0].At, c.at)
			}
			if string(r.Recorded) != from.body {
				t.Error("what was recorded is changed")
			}
		})
	}
}

func TestPrepare_RefusesWhatCannotBeEdited(t *testing.T) {
	yes := true
	for _, c := range []struct {
		name    string
		dialect transcript.Dialect
		edit    transcript.Edit
		want    error
	}{
		{"no such call", transcript.Chat, transcript.Edit{Op: transcript.SetArgs, CallID: "c9", Value: []byte(`{}`)}, replay.ErrNoCall},
		{"no such place", transcript.Chat, transcript.Edit{Op: transcript.SetValue, At: "/messages/9/content", Value: []byte(`1`)}, replay.ErrEdit},
		{"an index is not a member", transcript.Chat, transcript.Edit{Op: transcript.SetValue, At: "/messages/4", Value: []byte(`{}`)}, replay.ErrEdit},
		{"tools that are no list", transcript.Chat, transcript.Edit{Op: transcript.SetTools, Value: []byte(`{}`)}, replay.ErrEdit},
		{"no operation", transcript.Chat, transcript.Edit{Op: "shuffle"}, replay.ErrEdit},
		{"a test that fails", transcript.Chat, transcript.Edit{Op: transcript.Patch, Value: []byte(`[{"op":"test","path":"/model","value":"k"}]`)}, replay.ErrEdit},
		{"a move into itself", transcript.Chat, transcript.Edit{Op: transcript.Patch, Value: []byte(`[{"op":"move","from":"/messages","path":"/messages/0"}]`)}, replay.ErrEdit},
		{"arguments that are no object", transcript.Messages, transcript.Edit{Op: transcript.SetArgs, CallID: "c1", Value: []byte(`[]`)}, nil},
		{"a failure where there is no mark", transcript.Chat, transcript.Edit{Op: transcript.SetResult, CallID: "c1", IsError: &yes}, nil},
	} {
		from := requests[c.dialect]
		db, e := record(t, &transcript.Capture{URL: from.url, Request: body(from.body)})
		if _, err := replay.NewRequest(context.Background(), db, e, []transcript.Edit{c.edit}); err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

func TestRequest_NewErrorsAreThoseOfTheEdit(t *testing.T) {
	from := requests[transcript.Chat]
	db, e := record(t, &transcript.Capture{URL: from.url, Request: body(from.body)})
	for _, c := range []struct {
		edit transcript.Edit
		want bool
	}{
		{transcript.Edit{Op: transcript.SetResult, CallID: "c1", Text: "new"}, false},
		{transcript.Edit{Op: transcript.Drop, At: "/messages/0"}, false},
		{transcript.Edit{Op: transcript.Drop, At: "/messages/2"}, true},
	} {
		r, err := replay.NewRequest(context.Background(), db, e, []transcript.Edit{c.edit})
		if err != nil {
			t.Fatal(err)
		}
		if found := r.NewErrors(); (len(found) > 0) != c.want {
			t.Errorf("%s %s: %+v, want errors: %v", c.edit.Op, c.edit.At, found, c.want)
		}
	}
}

func TestDifference_BecomesFewEdits(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{`{"a":1.10,"b":[1,2,3]}`, `{ "b": [1, 2, 3], "a": 1.10 }`, `null`},
		{`{"a":{"b":"x"},"n":9007199254740993}`, `{"a":{"b":"y"},"n":9007199254740993}`, `[{"op":"set","at":"/a/b","value":"y"}]`},
		{`{"a":[1,2,3]}`, `{"a":[1,3]}`, `[{"op":"drop","at":"/a/1"}]`},
		{`{"a":[1,3]}`, `{"a":[1,{"x": 1.0},2,3]}`, `[{"op":"insert","at":"/a/1","value":{"x":1.0}},{"op":"insert","at":"/a/2","value":2}]`},
		{`{"a":1,"b~/c":2}`, `{"b~/c":3,"d":null}`, `[{"op":"drop","at":"/a"},{"op":"set","at":"/b~0~1c","value":3},{"op":"set","at":"/d","value":null}]`},
	} {
		edits, err := replay.Difference([]byte(c.before), []byte(c.after))
		got, _ := json.Marshal(edits)
		if err != nil || string(got) != c.want {
			t.Errorf("%s → %s: %s (%v), want %s", c.before, c.after, got, err, c.want)
		}
	}
	if _, err := replay.Difference([]byte(`{}`), []byte(`{"a":`)); !errors.Is(err, replay.ErrEdit) {
		t.Errorf("error %v, want ErrEdit", err)
	}
}
