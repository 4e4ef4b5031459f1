package responses

import (
	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/rawjson"
	"strings"
)

func isResponses(w *api.Wire, path []string) api.Claim {
	switch post := api.IsPost(w); {
	case post && api.EndsWith(path, "responses") && (api.MayBe(w.Request, "input", "model", "prompt", "previous_response_id") || api.Answered(w, isResponsesAnswer, isResponsesEvent)),
		post && api.EndsWith(path, "responses", "compact"),
		retrieves(w, path):
		return api.Mine
	}
	return api.NotMine
}

// retrieves reports whether a request polls an answer or resumes its stream: the
// latter need not begin with an event by which it could be known.
func retrieves(w *api.Wire, p []string) bool {
	return strings.EqualFold(w.Method, "GET") && len(p) > 1 && p[len(p)-2] == "responses" && strings.HasPrefix(p[len(p)-1], "resp")
}

func isResponsesAnswer(v []byte) bool {
	object := rawjson.String(rawjson.Get(v, "object"))
	return object == "response" || object == "response.compaction"
}

func isResponsesEvent(v []byte) bool {
	return strings.HasPrefix(rawjson.String(rawjson.Get(v, "type")), "response.") && rawjson.IsObject(rawjson.Get(v, "response")) &&
		rawjson.String(rawjson.Get(v, "response", "object")) != "realtime.response"
}

func resemblesResponses(body []byte) int {
	if rawjson.Get(body, "messages") == nil && (rawjson.Get(body, "input") != nil || rawjson.Get(body, "instructions") != nil) {
		return 2
	}
	return 0
}
