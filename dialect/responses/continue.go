package responses

import (
	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/rawjson"
	"strings"
)

func appendResponses(response []byte, results []api.Result) ([][]byte, error) {
	output := rawjson.Elements(rawjson.Get(response, "output"))
	return append(output, responsesResults(output, results)...), nil
}

// continueResponses appends the output items to the input. Where the request
// leaves its history to the server (previous_response_id, conversation) the
// next one does so too and holds the results alone.
func continueResponses(body, response []byte, results []api.Result) []rawjson.Edit {
	output := rawjson.Elements(rawjson.Get(response, "output"))
	outs := responsesResults(output, results)
	if api.Held(held, body) {
		edits := []rawjson.Edit{api.Add("/input", rawjson.Array(outs))}
		if rawjson.Present(rawjson.Get(body, "previous_response_id")) {
			edits = append(edits, rawjson.Edit{Op: rawjson.Replace, At: "/previous_response_id", Value: rawjson.Quote(rawjson.String(rawjson.Get(response, "id")))})
		}
		return edits
	}
	var edits []rawjson.Edit
	input := rawjson.Get(body, "input")
	switch {
	case rawjson.IsString(input):
		edits = append(edits, api.Add("/input", []byte(`[{"role":"user","content":`+string(input)+`}]`)))
	case !rawjson.IsArray(input):
		edits = append(edits, api.Add("/input", []byte("[]")))
	}
	for _, v := range append(output, outs...) {
		edits = append(edits, api.Add("/input/-", v))
	}
	return edits
}

func responsesResults(output [][]byte, results []api.Result) (outs [][]byte) {
	for _, r := range results {
		outs = append(outs, responsesResult(output, r))
	}
	return outs
}

// responsesResult writes a result the way the type of its call wants it.
func responsesResult(output [][]byte, r api.Result) []byte {
	if r.Raw != nil {
		return r.As("call_id")
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
