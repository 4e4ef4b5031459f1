package mock

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// firstEvents returns the first n events of a stream; of what is none, n bytes in a
// hundred, so that it breaks off in any case.
func firstEvents(stream []byte, n int) []byte {
	end, seen := 0, 0
	s := dialect.SSE{}
	s.Feed(stream, func(e dialect.Event) {
		if seen++; seen <= n {
			end = int(e.End)
		}
	})
	if seen == 0 {
		return stream[:min(len(stream)*min(n, 99)/100, len(stream))]
	}
	return stream[:end]
}

// malform takes from the arguments of calls the brackets that close them.
func malform(wire []byte) []byte {
	if rawjson.Valid(wire) {
		return malformed(wire)
	}
	var out []byte
	from := 0
	s := dialect.SSE{}
	each := func(e dialect.Event) {
		event := wire[from:min(int(e.End), len(wire))]
		from += len(event)
		if i := bytes.Index(event, e.Data); i >= 0 && len(e.Data) > 0 && rawjson.Valid(e.Data) {
			changed := append(append([]byte{}, event[:i]...), malformed(e.Data)...)
			event = append(changed, event[i+len(e.Data):]...)
		}
		out = append(out, event...)
	}
	s.Feed(wire, each)
	s.Close(each)
	return append(out, wire[from:]...)
}

func malformed(raw []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return raw
	}
	changed := false
	v = unclose(v, &changed)
	if !changed {
		return raw
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return raw
	}
	return bytes.TrimSpace(out.Bytes())
}

// unclose changes what holds arguments: arguments (chat, responses), partial_json and
// input (messages), delta of function_call_arguments.delta (responses).
func unclose(v any, changed *bool) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = unclose(v[i], changed)
		}
	case map[string]any:
		kind, _ := v["type"].(string)
		for name, inner := range v {
			text, isText := inner.(string)
			switch {
			case isText && (name == "arguments" || name == "partial_json" || name == "delta" && kind == "response.function_call_arguments.delta"):
				if strings.HasSuffix(text, "}") {
					v[name], *changed = strings.TrimRight(text, "}"), true
				}
			case name == "input" && kind == "tool_use":
				if object, ok := inner.(map[string]any); ok && len(object) > 0 {
					if text, err := json.Marshal(object); err == nil {
						v[name], *changed = string(text[:len(text)-1]), true
					}
				}
			default:
				v[name] = unclose(inner, changed)
			}
		}
	}
	return v
}

// duplicate returns all calls of an answer the id of the first; a single one gets that
// of the last call in the request.
func (a *answer) duplicate(wire []byte) []byte {
	header := map[string][]string{}
	if !rawjson.Valid(wire) {
		header["Content-Type"] = []string{"text/event-stream"}
	}
	turn := dialect.Decode(a.dialect, &dialect.Wire{Method: a.r.Method, URL: a.r.URL.RequestURI(), Status: 200, ResponseHeader: header, Request: a.body, Response: wire})
	ids := callIDs(turn.Output)
	if len(ids) == 1 {
		if before := callIDs(turn.Input); len(before) > 0 {
			ids = append([]string{before[len(before)-1]}, ids...)
		}
	}
	for i := 1; i < len(ids); i++ {
		wire = bytes.ReplaceAll(wire, quoted(ids[i]), quoted(ids[0]))
	}
	return wire
}

func callIDs(items []transcript.Item) []string {
	var ids []string
	for i := range items {
		if items[i].Kind == transcript.ToolCall && items[i].CallID != "" {
			ids = append(ids, items[i].CallID)
		}
	}
	return ids
}

func quoted(s string) []byte {
	q, err := json.Marshal(s)
	if err != nil {
		return []byte(s)
	}
	return q
}
