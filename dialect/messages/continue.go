package messages

import (
	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/rawjson"
)

func appendMessages(response []byte, results []api.Result) ([][]byte, error) {
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
			answers = append(answers, r.As("tool_use_id"))
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
	return messages, nil
}
