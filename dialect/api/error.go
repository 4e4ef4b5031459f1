package api

import (
	"strings"

	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// Fail records an error in the provider's words; the first one counts.
func (r *Reader) Fail(e *transcript.Error) {
	if r.Turn.Error == nil && e != nil {
		r.Turn.Error = e
	}
}

// ErrorOf finds the error in a body or an event, nil if it holds none:
//
//	{"error":{"type","code","message"}}          OpenAI, Anthropic, Groq, OpenRouter, Azure
//	{"error":{"code","message","status"}}        Google's compatible endpoint
//	{"error":"text"}                             Ollama, older gateways
//	[{"error":…}]                                Google
//	{"response":{"error":…}}                     OpenAI Responses, response.failed
//	{"object":"error","message","type","code"}   vLLM, Mistral
//	{"detail":"text"} or {"detail":[{"msg"}]}    FastAPI servers
//	{"message":"text"}                           Bedrock, API gateways
//
// The last three count only where bare is set: on an error status.
func ErrorOf(v []byte, bare bool) *transcript.Error {
	if rawjson.IsArray(v) {
		if c := rawjson.Walk(v); c.Next() {
			v = c.Value()
		}
	}
	if !rawjson.IsObject(v) {
		return nil
	}
	if e := rawjson.Get(v, "error"); rawjson.Present(e) {
		switch {
		case rawjson.IsObject(e):
			return ErrorObject(e)
		case rawjson.IsString(e):
			return &transcript.Error{Type: rawjson.Scalar(rawjson.Get(v, "type")), Code: rawjson.Scalar(rawjson.Get(v, "code")), Message: rawjson.String(e)}
		case string(e) == "false":
			return nil
		default:
			return &transcript.Error{Message: string(e)}
		}
	}
	if !bare && rawjson.String(rawjson.Get(v, "object")) != "error" {
		return nil
	}
	if d := rawjson.Get(v, "detail"); rawjson.Present(d) {
		message := rawjson.Scalar(d)
		if msg := rawjson.Get(FirstOf(d), "msg"); rawjson.IsString(msg) {
			message = rawjson.String(msg)
		}
		return &transcript.Error{Message: message}
	}
	for _, name := range [...]string{"message", "Message"} {
		if m := rawjson.Get(v, name); rawjson.Present(m) {
			e := ErrorObject(v)
			if e.Type == "error" { // the type of the event, not of the error (Responses)
				e.Type = e.Code
			}
			e.Message = rawjson.Scalar(m)
			return e
		}
	}
	return nil
}

// FirstOf gives the first element of an array, nil if there is none.
func FirstOf(v []byte) []byte {
	if c := rawjson.Walk(v); !c.Object && c.Next() {
		return c.Value()
	}
	return nil
}

// ErrorObject reads {"type","code","message"}. A type that is missing is
// taken from the status (Google) or the code.
func ErrorObject(v []byte) *transcript.Error {
	e := transcript.Error{Code: rawjson.Scalar(rawjson.Get(v, "code")), Message: rawjson.Scalar(rawjson.Get(v, "message")), Type: rawjson.Scalar(rawjson.Get(v, "type"))}
	if e.Type == "" {
		e.Type = rawjson.Scalar(rawjson.Get(v, "status"))
	}
	if e.Type == "" {
		e.Type = e.Code
	}
	return &e
}

// errorType strips what AWS puts around an error's name in its header, as in
// "ValidationException:http://internal.amazon.com/…".
func errorType(h map[string][]string) string {
	name, _, _ := strings.Cut(Header(h, "X-Amzn-Errortype"), ":")
	return name
}

// ReadError looks for an error in a whole response object.
func (r *Reader) ReadError(object []byte) {
	e := ErrorOf(object, r.Wire.Status >= 400)
	if e != nil && e.Type == "" {
		e.Type = errorType(r.Wire.ResponseHeader)
	}
	r.Fail(e)
}

// PlainError writes an error object as most providers answer with it.
func PlainError(object []byte) []byte { return []byte(`{"error":` + string(object) + `}`) }
