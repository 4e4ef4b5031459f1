package chat

import (
	"errors"
	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/rawjson"
)

func appendChat(response []byte, results []api.Result) ([][]byte, error) {
	message := rawjson.Get(api.FirstOf(rawjson.Get(response, "choices")), "message")
	if !rawjson.IsObject(message) {
		return nil, errors.New("the answer has no message")
	}
	list := [][]byte{chatEcho(message)}
	for _, r := range results {
		if r.Raw != nil {
			list = append(list, r.As("tool_call_id"))
			continue
		}
		var f rawjson.Object
		if r.CallID == "" { // a legacy function_call has no id
			f.Set("role", []byte(`"function"`))
			f.Set("name", rawjson.Quote(rawjson.String(rawjson.Get(message, "function_call", "name"))))
		} else {
			f.Set("role", []byte(`"tool"`))
			f.Set("tool_call_id", rawjson.Quote(r.CallID))
		}
		f.Set("content", rawjson.Quote(r.Text))
		list = append(list, f.Bytes())
	}
	return list, nil
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
