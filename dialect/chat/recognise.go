package chat

import (
	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/rawjson"
)

func isChat(w *api.Wire, path []string) api.Claim {
	if api.IsPost(w) && api.EndsWith(path, "chat", "completions") {
		return api.Mine
	}
	return api.NotMine
}

func isChatAnswer(v []byte) bool {
	switch rawjson.String(rawjson.Get(v, "object")) {
	case "chat.completion":
		return true
	case "", "chat.completion.chunk":
		return rawjson.IsObject(rawjson.Get(api.FirstOf(rawjson.Get(v, "choices")), "message"))
	}
	return false
}

func isChatEvent(v []byte) bool {
	return rawjson.String(rawjson.Get(v, "object")) == "chat.completion.chunk" || rawjson.IsObject(rawjson.Get(api.FirstOf(rawjson.Get(v, "choices")), "delta"))
}

func resemblesChat(body []byte) int {
	if rawjson.Get(body, "messages") == nil {
		return 0
	}
	return 1
}
