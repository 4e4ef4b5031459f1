package dialect

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// Result is the outcome of one tool call, as a client would send it.
type Result struct {
	CallID  string
	Text    string
	IsError bool
	// Raw, if there is any, is a result of the same dialect as it stood in a request:
	// it is sent with all its parts and the new call id. Text and IsError do not count
	// then.
	Raw json.RawMessage
}

// again gives the raw result as the one of another call: without the id of its own
// that an item may have, and without a cache mark, of which an API allows few.
func (r *Result) again(member string) []byte {
	var f rawjson.Object
	for c := rawjson.Walk(r.Raw); c.Next(); {
		switch key := string(c.Key()); key {
		case member:
			f.Set(key, rawjson.Quote(r.CallID))
		case "id", "cache_control":
		default:
			f.Set(key, c.Value())
		}
	}
	return f.Bytes()
}

// Continue gives the request that goes on from body after its answer: the
// answer (a response object, reassembled if it was streamed) and the results
// of its tool calls are appended the way a client of that API does it.
// Thinking blocks, signatures, reasoning items and call ids go back as they
// came. The bytes of body before that stay as they are.
func Continue(d transcript.Dialect, body, response []byte, results []Result) ([]byte, error) {
	if !rawjson.Valid(body) || !rawjson.Valid(response) {
		return nil, errors.New("continue request: a body is not JSON")
	}
	response = response[rawjson.SkipSpace(response, 0):]
	var edits []rawjson.Edit
	var err error
	if d == transcript.Responses {
		edits = continueResponses(body[rawjson.SkipSpace(body, 0):], response, results)
	} else {
		var elements [][]byte
		elements, err = grown(d, response, results)
		for _, v := range elements {
			edits = append(edits, add("/messages/-", v))
		}
	}
	if err == nil {
		body, err = rawjson.Apply(body, edits...)
	}
	if err != nil {
		return nil, fmt.Errorf("continue request: %w", err)
	}
	return body, nil
}

func add(at string, v []byte) rawjson.Edit { return rawjson.Edit{Op: rawjson.Insert, At: at, Value: v} }

func grownChat(response []byte, results []Result) ([][]byte, error) {
	message := rawjson.Get(firstOf(rawjson.Get(response, "choices")), "message")
	if !rawjson.IsObject(message) {
		return nil, errors.New("the answer has no message")
	}
	list := [][]byte{chatEcho(message)}
	for _, r := range results {
		if r.Raw != nil {
			list = append(list, r.again("tool_call_id"))
			continue
		}
		var f rawjson.Object
		if r.CallID == "" { // a legacy function_call has no id
			f.Set("role", []byte(`"function"`))
			f.Set("name", orEmpty(rawjson.Get(message, "function_call", "name")))
		} else {
			f.Set("role", []byte(`"tool"`))
			f.Set("tool_call_id", rawjson.Quote(r.CallID))
		}
		f.Set("content", rawjson.Quote(r.Text))
		list = append(list, f.Bytes())
	}
	return list, nil
}

func orEmpty(v []byte) []byte {
	if v == nil {
		return []byte(`""`)
	}
	return v
}

// chatEcho gives a message of an answer as a client sends it back: without
// what only answers have (annotations, the place of a call) and what is null,
// but with reasoning in whichever member the vendor put it; spoken output goes
// back as its id.
func chatEcho(message []byte) []byte {
	var f rawjson.Object
	f.Set("role", []byte(`"assistant"`))
	f.Set("content", []byte("null"))
	for c := rawjson.Walk(message); c.Next(); {
		switch v, key := c.Value(), string(c.Key()); {
		case !rawjson.Present(v), key == "annotations", key == "provider_metadata", key == "parsed":
		case key == "refusal" && rawjson.IsEmpty(v), key == "function_call" && blank(v):
		case key == "audio":
			if id := rawjson.Get(v, "id"); !rawjson.IsEmpty(id) {
				f.Set("audio", []byte(`{"id":`+string(id)+`}`))
			}
		case key == "tool_calls":
			var calls [][]byte
			for _, call := range rawjson.Elements(v) {
				if without, err := rawjson.Apply(call, rawjson.Edit{Op: rawjson.Delete, At: "/index"}); err == nil {
					call = without
				}
				calls = append(calls, call)
			}
			f.Set(key, rawjson.Array(calls))
		default:
			f.Set(key, v)
		}
	}
	return f.Bytes()
}

func grownMessages(response []byte, results []Result) [][]byte {
	var blocks [][]byte
	for _, b := range rawjson.Elements(rawjson.Get(response, "content")) {
		if rawjson.String(rawjson.Get(b, "type")) == "text" && rawjson.IsEmpty(rawjson.Get(b, "text")) {
			continue // the API refuses empty text
		}
		blocks = append(blocks, b)
	}
	var messages [][]byte
	if len(blocks) > 0 {
		messages = append(messages, []byte(`{"role":"assistant","content":`+string(rawjson.Array(blocks))+`}`))
	}
	var answers [][]byte
	for _, r := range results {
		if r.Raw != nil {
			answers = append(answers, r.again("tool_use_id"))
			continue
		}
		var f rawjson.Object
		f.Set("type", []byte(`"tool_result"`))
		f.Set("tool_use_id", rawjson.Quote(r.CallID))
		f.Set("content", rawjson.Quote(r.Text))
		if r.IsError {
			f.Set("is_error", []byte("true"))
		}
		answers = append(answers, f.Bytes())
	}
	if len(answers) > 0 {
		messages = append(messages, []byte(`{"role":"user","content":`+string(rawjson.Array(answers))+`}`))
	}
	return messages
}

// continueResponses appends the output items to the input. Where the request
// leaves its history to the server (previous_response_id, conversation) the
// next one does so too and holds the results alone.
func continueResponses(body, response []byte, results []Result) []rawjson.Edit {
	output := rawjson.Elements(rawjson.Get(response, "output"))
	outs := responsesResults(output, results)
	if held(body) {
		edits := []rawjson.Edit{add("/input", rawjson.Array(outs))}
		if rawjson.Present(rawjson.Get(body, "previous_response_id")) {
			edits = append(edits, rawjson.Edit{Op: rawjson.Replace, At: "/previous_response_id", Value: orEmpty(rawjson.Get(response, "id"))})
		}
		return edits
	}
	var edits []rawjson.Edit
	input := rawjson.Get(body, "input")
	switch {
	case rawjson.IsString(input):
		edits = append(edits, add("/input", []byte(`[{"role":"user","content":`+string(input)+`}]`)))
	case !rawjson.IsArray(input):
		edits = append(edits, add("/input", []byte("[]")))
	}
	for _, v := range append(output, outs...) {
		edits = append(edits, add("/input/-", v))
	}
	return edits
}

// held tells whether a request of Responses leaves its history to the server.
func held(body []byte) bool {
	return rawjson.Present(rawjson.Get(body, "previous_response_id")) || rawjson.Present(rawjson.Get(body, "conversation"))
}

func responsesResults(output [][]byte, results []Result) (outs [][]byte) {
	for _, r := range results {
		outs = append(outs, responsesResult(output, r))
	}
	return outs
}

// responsesResult writes a result the way the type of its call wants it.
func responsesResult(output [][]byte, r Result) []byte {
	if r.Raw != nil {
		return r.again("call_id")
	}
	kind := "function_call"
	for _, item := range output {
		if t := rawjson.String(rawjson.Get(item, "type")); rawjson.String(rawjson.Get(item, "call_id")) == r.CallID && strings.HasSuffix(t, "_call") {
			kind = t
		}
	}
	var f rawjson.Object
	f.Set("type", rawjson.Quote(kind+"_output"))
	f.Set("call_id", rawjson.Quote(r.CallID))
	text := rawjson.Quote(r.Text)
	switch kind {
	case "tool_search_call":
		f.Set("type", []byte(`"tool_search_output"`))
		f.Set("execution", []byte(`"client"`))
		tools := []byte(r.Text)
		if !rawjson.Valid(tools) || !rawjson.IsArray(tools) {
			tools = []byte("[]")
		}
		f.Set("tools", tools)
	case "computer_call": // its result is a screenshot, as a URL
		f.Set("output", []byte(`{"type":"computer_screenshot","image_url":`+string(text)+`}`))
	case "shell_call":
		code := "0"
		if r.IsError {
			code = "1"
		}
		f.Set("output", []byte(`[{"stdout":`+string(text)+`,"stderr":"","outcome":{"type":"exit","exit_code":`+code+`}}]`))
	case "apply_patch_call":
		status := `"completed"`
		if r.IsError {
			status = `"failed"`
		}
		f.Set("status", []byte(status))
		f.Set("output", text)
	default:
		f.Set("output", text)
	}
	return f.Bytes()
}
