package dialect

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

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
	var f fields
	for c := walk(r.Raw); c.next(); {
		switch key := string(c.key()); key {
		case member:
			f.set(key, quote(r.CallID))
		case "id", "cache_control":
		default:
			f.set(key, c.value())
		}
	}
	return f.json()
}

// Continue gives the request that goes on from body after its answer: the
// answer (a response object, reassembled if it was streamed) and the results
// of its tool calls are appended the way a client of that API does it.
// Thinking blocks, signatures, reasoning items and call ids go back as they
// came. The bytes of body before that stay as they are.
func Continue(d transcript.Dialect, body, response []byte, results []Result) ([]byte, error) {
	if !valid(body) || !valid(response) {
		return nil, errors.New("continue request: a body is not JSON")
	}
	response = response[skipSpace(response, 0):]
	var edits []Edit
	var err error
	if d == transcript.Responses {
		edits = continueResponses(body[skipSpace(body, 0):], response, results)
	} else {
		var elements [][]byte
		elements, err = grown(d, response, results)
		for _, v := range elements {
			edits = append(edits, add("/messages/-", v))
		}
	}
	if err == nil {
		body, err = Apply(body, edits...)
	}
	if err != nil {
		return nil, fmt.Errorf("continue request: %w", err)
	}
	return body, nil
}

func add(at string, v []byte) Edit { return Edit{Op: Insert, At: at, Value: v} }

func grownChat(response []byte, results []Result) ([][]byte, error) {
	message := get(firstOf(get(response, "choices")), "message")
	if !isObject(message) {
		return nil, errors.New("the answer has no message")
	}
	list := [][]byte{chatEcho(message)}
	for _, r := range results {
		if r.Raw != nil {
			list = append(list, r.again("tool_call_id"))
			continue
		}
		var f fields
		if r.CallID == "" { // a legacy function_call has no id
			f.set("role", []byte(`"function"`))
			f.set("name", orEmpty(get(message, "function_call", "name")))
		} else {
			f.set("role", []byte(`"tool"`))
			f.set("tool_call_id", quote(r.CallID))
		}
		f.set("content", quote(r.Text))
		list = append(list, f.json())
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
	var f fields
	f.set("role", []byte(`"assistant"`))
	f.set("content", []byte("null"))
	for c := walk(message); c.next(); {
		switch v, key := c.value(), string(c.key()); {
		case !has(v), key == "annotations", key == "provider_metadata", key == "parsed":
		case key == "refusal" && isEmpty(v), key == "function_call" && blank(v):
		case key == "audio":
			if id := get(v, "id"); !isEmpty(id) {
				f.set("audio", []byte(`{"id":`+string(id)+`}`))
			}
		case key == "tool_calls":
			var calls [][]byte
			for _, call := range elements(v) {
				if without, err := remove(call, "/index"); err == nil {
					call = without
				}
				calls = append(calls, call)
			}
			f.set(key, list(calls))
		default:
			f.set(key, v)
		}
	}
	return f.json()
}

func grownMessages(response []byte, results []Result) [][]byte {
	var blocks [][]byte
	for _, b := range elements(get(response, "content")) {
		if str(get(b, "type")) == "text" && isEmpty(get(b, "text")) {
			continue // the API refuses empty text
		}
		blocks = append(blocks, b)
	}
	var messages [][]byte
	if len(blocks) > 0 {
		messages = append(messages, []byte(`{"role":"assistant","content":`+string(list(blocks))+`}`))
	}
	var answers [][]byte
	for _, r := range results {
		if r.Raw != nil {
			answers = append(answers, r.again("tool_use_id"))
			continue
		}
		var f fields
		f.set("type", []byte(`"tool_result"`))
		f.set("tool_use_id", quote(r.CallID))
		f.set("content", quote(r.Text))
		if r.IsError {
			f.set("is_error", []byte("true"))
		}
		answers = append(answers, f.json())
	}
	if len(answers) > 0 {
		messages = append(messages, []byte(`{"role":"user","content":`+string(list(answers))+`}`))
	}
	return messages
}

// continueResponses appends the output items to the input. Where the request
// leaves its history to the server (previous_response_id, conversation) the
// next one does so too and holds the results alone.
func continueResponses(body, response []byte, results []Result) []Edit {
	output := elements(get(response, "output"))
	outs := responsesResults(output, results)
	if held(body) {
		edits := []Edit{add("/input", list(outs))}
		if has(get(body, "previous_response_id")) {
			edits = append(edits, Edit{Op: Replace, At: "/previous_response_id", Value: orEmpty(get(response, "id"))})
		}
		return edits
	}
	var edits []Edit
	input := get(body, "input")
	switch {
	case isString(input):
		edits = append(edits, add("/input", []byte(`[{"role":"user","content":`+string(input)+`}]`)))
	case !isArray(input):
		edits = append(edits, add("/input", []byte("[]")))
	}
	for _, v := range append(output, outs...) {
		edits = append(edits, add("/input/-", v))
	}
	return edits
}

// held tells whether a request of Responses leaves its history to the server.
func held(body []byte) bool {
	return has(get(body, "previous_response_id")) || has(get(body, "conversation"))
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
		if t := str(get(item, "type")); str(get(item, "call_id")) == r.CallID && strings.HasSuffix(t, "_call") {
			kind = t
		}
	}
	var f fields
	f.set("type", quote(kind+"_output"))
	f.set("call_id", quote(r.CallID))
	text := quote(r.Text)
	switch kind {
	case "tool_search_call":
		f.set("type", []byte(`"tool_search_output"`))
		f.set("execution", []byte(`"client"`))
		tools := []byte(r.Text)
		if !valid(tools) || !isArray(tools) {
			tools = []byte("[]")
		}
		f.set("tools", tools)
	case "computer_call": // its result is a screenshot, as a URL
		f.set("output", []byte(`{"type":"computer_screenshot","image_url":`+string(text)+`}`))
	case "shell_call":
		code := "0"
		if r.IsError {
			code = "1"
		}
		f.set("output", []byte(`[{"stdout":`+string(text)+`,"stderr":"","outcome":{"type":"exit","exit_code":`+code+`}}]`))
	case "apply_patch_call":
		status := `"completed"`
		if r.IsError {
			status = `"failed"`
		}
		f.set("status", []byte(status))
		f.set("output", text)
	default:
		f.set("output", text)
	}
	return f.json()
}
