package api

import (
	"bytes"
	"net/url"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// Recognise returns the dialect that an exchange speaks, by its path and its
// bodies: transcript.Unknown if none fits.
func (l List) Recognise(w *Wire) transcript.Dialect {
	path := segments(w.URL)
	for _, a := range l {
		switch a.Claim(w, path) {
		case Mine:
			return a.Name
		case Nobodys:
			return transcript.Unknown
		}
	}
	for _, a := range l {
		if Answered(w, a.IsAnswer, a.IsEvent) {
			return a.Name
		}
	}
	return transcript.Unknown
}

// RecogniseRequest returns the dialect that a request body looks like, if nothing
// else is known of it.
func (l List) RecogniseRequest(body []byte) transcript.Dialect {
	found, most := transcript.Unknown, 0
	if !rawjson.Valid(body) {
		return found
	}
	body = bytes.TrimSpace(body)
	for _, a := range l {
		if n := a.Resembles(body); n > most {
			found, most = a.Name, n
		}
	}
	return found
}

func IsPost(w *Wire) bool { return w.Method == "" || strings.EqualFold(w.Method, "POST") }

// MayBe reports whether a request body could be what its path says: it has one
// of the members, or it cannot be read (tests and gateways leave it out).
func MayBe(body []byte, members ...string) bool {
	body = bytes.TrimSpace(body)
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

// Answered reports whether a response body is what an API answers with.
func Answered(w *Wire, isAnswer, isEvent func([]byte) bool) bool {
	body := bytes.TrimSpace(w.Response)
	if looksLikeJSON(body) {
		return isAnswer(body)
	}
	if !looksLikeEvents(body) {
		return false
	}
	const enough = 16 << 10 // of a stream to know it by its first events
	found := false
	var sse SSE
	take := func(e Event) {
		if data := bytes.TrimSpace(e.Data); !found && rawjson.IsObject(data) {
			found = isEvent(data)
		}
	}
	sse.Feed(body[:min(len(body), enough)], take)
	sse.Close(take) // the first event may be larger than that
	return found
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

func EndsWith(p []string, tail ...string) bool {
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
