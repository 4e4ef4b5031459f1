package dialect

import (
	"bytes"
	"net/url"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// Recognise says which dialect an exchange speaks, by its path and its body.
// What fits none is transcript.Unknown.
func Recognise(w *Wire) transcript.Dialect {
	p := segments(w.URL)
	req := bytes.TrimSpace(w.Request)
	ends := func(tail ...string) bool { return endsWith(p, tail) }
	switch post := w.Method == "" || strings.EqualFold(w.Method, "POST"); {
	case post && ends("chat", "completions"):
		return transcript.Chat
	case post && ends("responses") && (mayBe(req, "input", "model", "prompt", "previous_response_id") || answer(w) == transcript.Responses),
		post && ends("responses", "compact"),
		retrieves(w, p):
		return transcript.Responses
	case post && ends("messages") && !contains(p, "threads") && (mayBe(req, "messages") || answer(w) == transcript.Messages):
		return transcript.Messages
	case post && ends("messages", "count_tokens"), post && ends("messages", "batches"):
		return transcript.Unknown
	case rawjson.Get(req, "anthropic_version") != nil && rawjson.Get(req, "messages") != nil:
		return transcript.Messages // Vertex's :rawPredict, Bedrock's invoke
	}
	return answer(w)
}

// retrieves tells a poll or a resumed stream of an answer: the latter need not
// begin with an event by which it could be known.
func retrieves(w *Wire, p []string) bool {
	return strings.EqualFold(w.Method, "GET") && len(p) > 1 && p[len(p)-2] == "responses" && strings.HasPrefix(p[len(p)-1], "resp")
}

// mayBe tells whether a request body could be what its path says: it has one
// of the members, or it cannot be read (tests and gateways leave it out).
func mayBe(body []byte, members ...string) bool {
	if !rawjson.IsObject(body) {
		return true
	}
	for c := rawjson.Walk(body); c.Begin(); c.Finish() {
		if slices.Contains(members, string(c.Key())) { // its value need not be read
			return true
		}
	}
	return false
}

// answer recognises a response by its body alone.
func answer(w *Wire) transcript.Dialect {
	body := bytes.TrimSpace(w.Response)
	if looksLikeJSON(body) {
		return answerObject(body)
	}
	if !looksLikeEvents(body) {
		return transcript.Unknown
	}
	const enough = 16 << 10 // of a stream to know it by its first events
	found := transcript.Unknown
	var sse SSE
	take := func(e Event) {
		if data := bytes.TrimSpace(e.Data); found == transcript.Unknown && rawjson.IsObject(data) {
			found = answerEvent(data)
		}
	}
	sse.Feed(body[:min(len(body), enough)], take)
	sse.Close(take) // the first event may be larger than that
	return found
}

func answerObject(v []byte) transcript.Dialect {
	switch object := rawjson.String(rawjson.Get(v, "object")); {
	case object == "chat.completion":
		return transcript.Chat
	case object == "response" || object == "response.compaction":
		return transcript.Responses
	case object != "" && object != "chat.completion.chunk":
		return transcript.Unknown
	}
	switch {
	case rawjson.String(rawjson.Get(v, "type")) == "message" && rawjson.IsArray(rawjson.Get(v, "content")) && rawjson.Get(v, "stop_reason") != nil:
		return transcript.Messages
	case rawjson.IsObject(rawjson.Get(firstOf(rawjson.Get(v, "choices")), "message")):
		return transcript.Chat
	}
	return transcript.Unknown
}

func answerEvent(v []byte) transcript.Dialect {
	switch kind := rawjson.String(rawjson.Get(v, "type")); {
	case kind == "message_start" && rawjson.IsObject(rawjson.Get(v, "message")):
		return transcript.Messages
	case strings.HasPrefix(kind, "response.") && rawjson.IsObject(rawjson.Get(v, "response")):
		if rawjson.String(rawjson.Get(v, "response", "object")) == "realtime.response" {
			return transcript.Unknown
		}
		return transcript.Responses
	case rawjson.String(rawjson.Get(v, "object")) == "chat.completion.chunk", rawjson.IsObject(rawjson.Get(firstOf(rawjson.Get(v, "choices")), "delta")):
		return transcript.Chat
	}
	return transcript.Unknown
}

// segments gives the parts of a request target's path, empty ones left out.
func segments(target string) []string {
	if _, after, ok := strings.Cut(target, "://"); ok {
		_, target, _ = strings.Cut(after, "/")
	}
	if i := strings.IndexAny(target, "?#"); i >= 0 {
		target = target[:i]
	}
	return strings.FieldsFunc(target, func(r rune) bool { return r == '/' })
}

func endsWith(p, tail []string) bool {
	if len(p) < len(tail) {
		return false
	}
	for i, t := range tail {
		if p[len(p)-len(tail)+i] != t {
			return false
		}
	}
	return true
}

func contains(p []string, name string) bool {
	for _, s := range p {
		if s == name {
			return true
		}
	}
	return false
}

// modelOfPath finds the model where the body does not name it: Azure has it
// behind deployments, Vertex behind models, Bedrock behind model.
func modelOfPath(target string) string {
	p := segments(target)
	for i := 0; i+1 < len(p); i++ {
		switch p[i] {
		case "deployments", "models", "model":
			name := p[i+1]
			if s, err := url.PathUnescape(name); err == nil {
				name = s
			}
			for _, verb := range [...]string{":rawPredict", ":streamRawPredict"} {
				name = strings.TrimSuffix(name, verb)
			}
			return name
		}
	}
	return ""
}
