package ingest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/retake-debugger/retake/transcript"
)

// part is one unit of a scripted conversation, written for any API.
type part struct {
	kind string // s(ystem), u(ser), a(ssistant), c(all), r(esult), th(inking), t(ool), ref(erence), cmp (compaction)
	id   string // of a call or its result; of a reference or a compaction
	name string
	text string // what is said; arguments of a call
}

// script is one scripted exchange.
type script struct {
	n              int // place in time
	name           string
	api            string
	input, output  []part
	choice         []part // a second choice of the answer
	status         int
	model          string
	upstream       string
	id, prev, conv string // response id, previous_response_id, conversation
	method, target string // where it is no call of a model
	headers        []string
	label          string
	request        string // verbatim
	answerStatus   string // of a response object
	replaces       bool
	at             time.Duration // after the time of its place
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func orDefault(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

var paths = map[string]string{"chat": "/v1/chat/completions", "messages": "/v1/messages", "responses": "/v1/responses"}

// capture writes the exchange as its API would.
func (s *script) capture() *transcript.Capture {
	path, request, response := paths[s.api], s.request, ""
	if request == "" {
		request = s.body()
	}
	switch {
	case s.status >= 400:
		response = `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`
	default:
		response = s.answer()
	}
	if s.target != "" {
		path = s.target
	}
	c := capture(s.n, path, request, response)
	c.StartedAt, c.EndedAt = c.StartedAt.Add(s.at), c.EndedAt.Add(s.at)
	c.Label, c.Upstream = s.label, s.upstream
	if s.method != "" {
		c.Method = s.method
	}
	if s.status != 0 {
		c.Status = s.status
	}
	return with(c, s.headers...)
}

func (s *script) body() string {
	if s.method == "GET" {
		return ""
	}
	model := orDefault(s.model, "m")
	var tools, system []string
	var rest []part
	for _, p := range s.input {
		switch {
		case p.kind == "t":
			tools = append(tools, toolJSON(s.api, p.name))
		case p.kind == "s" && s.api == "messages":
			system = append(system, `{"type":"text","text":`+quoted(p.text)+`}`)
		default:
			rest = append(rest, p)
		}
	}
	members := []string{`"model":` + quoted(model)}
	if len(tools) > 0 {
		members = append(members, `"tools":[`+strings.Join(tools, ",")+`]`)
	}
	if len(system) > 0 {
		members = append(members, `"system":[`+strings.Join(system, ",")+`]`)
	}
	if s.prev != "" && s.api == "messages" {
		members = append(members, `"thread":{"type":"continue","previous_message_id":`+quoted(s.prev)+`}`)
	} else if s.prev != "" {
		members = append(members, `"previous_response_id":`+quoted(s.prev))
	}
	if s.conv != "" {
		members = append(members, `"conversation":`+quoted(s.conv))
	}
	name := "messages"
	if s.api == "responses" {
		name = "input"
	}
	return "{" + strings.Join(append(members, quoted(name)+":["+strings.Join(messages(s.api, rest), ",")+"]"), ",") + "}"
}

func toolJSON(api, name string) string {
	switch api {
	case "chat":
		return `{"type":"function","function":{"name":` + quoted(name) + `}}`
	case "messages":
		return `{"name":` + quoted(name) + `,"input_schema":{}}`
	}
	return `{"type":"function","name":` + quoted(name) + `}`
}

// messages writes parts as the elements of a request's list.
func messages(api string, parts []part) []string {
	var out []string
	switch api {
	case "responses":
		for _, p := range parts {
			out = append(out, responsesItem(p))
		}
	case "chat":
		for i := 0; i < len(parts); {
			n := i + 1
			if isAnswer(parts[i]) {
				for n < len(parts) && isAnswer(parts[n]) && parts[n].kind != "a" {
					n++
				}
			}
			out = append(out, chatMessage(parts[i:n]))
			i = n
		}
	case "messages":
		for i := 0; i < len(parts); {
			n := i + 1
			for n < len(parts) && isAnswer(parts[n]) == isAnswer(parts[i]) {
				n++
			}
			role := "user"
			if isAnswer(parts[i]) {
				role = "assistant"
			}
			out = append(out, `{"role":"`+role+`","content":[`+strings.Join(blocks(parts[i:n]), ",")+`]}`)
			i = n
		}
	}
	return out
}

func isAnswer(p part) bool {
	return p.kind == "a" || p.kind == "c" || p.kind == "th" || p.kind == "cmp"
}

func blocks(parts []part) []string {
	var out []string
	for _, p := range parts {
		switch p.kind {
		case "c":
			out = append(out, fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":%s}`, p.id, p.name, orDefault(p.text, "{}")))
		case "r":
			out = append(out, fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q,"content":%s}`, p.id, quoted(p.text)))
		case "th":
			out = append(out, fmt.Sprintf(`{"type":"thinking","thinking":%s,"signature":"s"}`, quoted(p.text)))
		case "cmp":
			out = append(out, fmt.Sprintf(`{"type":"compaction","content":%s}`, quoted(p.text)))
		default:
			out = append(out, `{"type":"text","text":`+quoted(p.text)+`}`)
		}
	}
	return out
}

// chatMessage writes the parts of one message.
func chatMessage(parts []part) string {
	switch p := parts[0]; p.kind {
	case "s":
		return `{"role":"system","content":` + quoted(p.text) + `}`
	case "u":
		return `{"role":"user","content":` + quoted(p.text) + `}`
	case "r":
		return fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":%s}`, p.id, quoted(p.text))
	}
	members := []string{`"role":"assistant"`}
	content := "null"
	var calls []string
	for _, p := range parts {
		switch p.kind {
		case "a":
			content = quoted(p.text)
		case "th":
			members = append(members, `"reasoning_content":`+quoted(p.text))
		case "c":
			calls = append(calls, fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}`, p.id, p.name, quoted(orDefault(p.text, "{}"))))
		}
	}
	members = append(members, `"content":`+content)
	if len(calls) > 0 {
		members = append(members, `"tool_calls":[`+strings.Join(calls, ",")+`]`)
	}
	return "{" + strings.Join(members, ",") + "}"
}

func responsesItem(p part) string {
	item := func(id string) string {
		if id == "" {
			return ""
		}
		return fmt.Sprintf(`"id":%q,`, id)
	}
	switch p.kind {
	case "s":
		return `{"role":"system","content":` + quoted(p.text) + `}`
	case "u":
		return `{"role":"user","content":[{"type":"input_text","text":` + quoted(p.text) + `}]}`
	case "a":
		return `{"type":"message",` + item(p.id) + `"role":"assistant","content":[{"type":"output_text","text":` + quoted(p.text) + `}]}`
	case "th":
		return `{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":` + quoted(p.text) + `}]}`
	case "c":
		return fmt.Sprintf(`{"type":"function_call","id":"fc_%s","call_id":%q,"name":%q,"arguments":%s}`, p.id, p.id, p.name, quoted(orDefault(p.text, "{}")))
	case "r":
		return fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":%s}`, p.id, quoted(p.text))
	case "ref":
		return fmt.Sprintf(`{"type":"item_reference","id":%q}`, p.id)
	}
	return fmt.Sprintf(`{"type":"compaction","id":%q,"encrypted_content":%s}`, p.id, quoted(p.text))
}

// answer writes the response.
func (s *script) answer() string {
	model, id := orDefault(s.model, "m"), orDefault(s.id, fmt.Sprintf("answer_%d", s.n))
	if s.target != "" && s.output == nil && s.answerStatus == "" {
		return orDefault(s.request, `{"object":"list","data":[]}`)
	}
	switch s.api {
	case "chat":
		choices := fmt.Sprintf(`{"index":0,"message":%s,"finish_reason":"stop"}`, chatMessage(orEmpty(s.output)))
		if s.choice != nil {
			choices += fmt.Sprintf(`,{"index":1,"message":%s,"finish_reason":"stop"}`, chatMessage(s.choice))
		}
		return fmt.Sprintf(`{"id":%q,"object":"chat.completion","model":%q,"choices":[%s],"usage":{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110}}`, id, model, choices)
	case "messages":
		return fmt.Sprintf(`{"id":%q,"type":"message","role":"assistant","model":%q,"content":[%s],"stop_reason":"end_turn","usage":{"input_tokens":100,"output_tokens":10}}`, id, model, strings.Join(blocks(s.output), ","))
	}
	object := "response"
	if s.replaces {
		object = "response.compaction"
	}
	return fmt.Sprintf(`{"id":%q,"object":%q,"status":%q,"model":%q,"output":[%s],"usage":{"input_tokens":100,"output_tokens":10,"total_tokens":110}}`,
		id, object, orDefault(s.answerStatus, "completed"), model, strings.Join(messages("responses", s.output), ","))
}

func orEmpty(parts []part) []part {
	if len(parts) == 0 {
		return []part{{kind: "a"}}
	}
	return parts
}

// parsePart reads a line such as "u Do it", "c call_1 bash {"x":1}", "r call_1 text".
func parsePart(t *testing.T, line string) part {
	t.Helper()
	kind, rest, _ := strings.Cut(line, " ")
	rest = strings.ReplaceAll(rest, `\n`, "\n")
	switch kind {
	case "s", "u", "th":
		return part{kind: kind, text: rest}
	case "a":
		p := part{kind: kind, text: rest}
		if strings.HasPrefix(rest, "#") {
			p.id, p.text, _ = strings.Cut(rest[1:], " ")
		}
		return p
	case "t":
		return part{kind: kind, name: rest}
	case "c":
		f := strings.SplitN(rest, " ", 3)
		p := part{kind: kind, id: f[0], name: f[1]}
		if len(f) > 2 {
			p.text = f[2]
		}
		return p
	case "r", "ref", "cmp":
		id, text, _ := strings.Cut(rest, " ")
		return part{kind: kind, id: id, text: text}
	}
	t.Fatalf("no such part: %s", line)
	return part{}
}

func splitLines(s string) []string { return strings.Split(s, "\n") }
