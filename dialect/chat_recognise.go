package dialect

import "github.com/retake-debugger/retake/rawjson"

func isChat(w *Wire, path []string) Claim {
	if isPost(w) && endsWith(path, "chat", "completions") {
		return Mine
	}
	return NotMine
}

func isChatAnswer(v []byte) bool {
	switch rawjson.String(rawjson.Get(v, "object")) {
	case "chat.completion":
		return true
	case "", "chat.completion.chunk":
		return rawjson.IsObject(rawjson.Get(firstOf(rawjson.Get(v, "choices")), "message"))
	}
	return false
}

func isChatEvent(v []byte) bool {
	return rawjson.String(rawjson.Get(v, "object")) == "chat.completion.chunk" || rawjson.IsObject(rawjson.Get(firstOf(rawjson.Get(v, "choices")), "delta"))
}

func resemblesChat(body []byte) int {
	if rawjson.Get(body, "messages") == nil {
		return 0
	}
	return 1
}
