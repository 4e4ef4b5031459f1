package redact

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/retake-debugger/retake/rawjson"
)

// A Splice is a change that Body made: Text replaces the bytes from Start to End.
type Splice struct {
	Start, End int
	Text       string
}

// Moved returns where a byte offset of a body is after its splices.
func Moved(splices []Splice, offset int64) int64 {
	shift := int64(0)
	for i := range splices {
		s := &splices[i]
		if int64(s.Start) >= offset {
			break
		}
		if int64(s.End) > offset {
			return int64(s.Start) + shift
		}
		shift += int64(len(s.Text) - (s.End - s.Start))
	}
	return offset + shift
}

// Body replaces the secrets in a body. JSON stays JSON: only the values of strings
// change, except for ids and signatures. In an event stream, a secret that is spread
// over several events is found, and its placeholder stands where the secret began.
// Any other body is one text. Bytes that are not UTF-8 stay as they are.
func (s *Scrubber) Body(body []byte) ([]byte, []Splice) {
	var w bodyWalk
	switch {
	case looksLikeJSON(body):
		w.values(body, 0, nil)
	case looksLikeEvents(body):
		w.events(body)
	case utf8.Valid(body):
		w.list = append(w.list, chunk{end: len(body), text: string(body), plain: true})
	}
	splices := s.splices(&w)
	if len(splices) == 0 {
		return body, nil
	}
	out := make([]byte, 0, len(body)+64*len(splices))
	at := 0
	for _, p := range splices {
		out = append(append(out, body[at:p.Start]...), p.Text...)
		at = p.End
	}
	return append(out, body[at:]...), splices
}

// chunk is a text in a body.
type chunk struct {
	start, end int // of its value, without quotes
	text       string
	name       string // of the member whose value it is
	plain      bool   // it is not inside a JSON string
	stream     string // in an event: which text it is a part of; "" if it is a text of its own
}

type bodyWalk struct{ list []chunk }

func looksLikeJSON(body []byte) bool {
	t := bytes.TrimLeft(body, " \t\r\n")
	return len(t) > 0 && (t[0] == '{' || t[0] == '[')
}

func looksLikeEvents(body []byte) bool {
	t := bytes.TrimLeft(body, "\r\n")
	return bytes.HasPrefix(t, []byte("data:")) || bytes.HasPrefix(t, []byte("event:")) || bytes.HasPrefix(t, []byte(":")) || bytes.HasPrefix(t, []byte("id:"))
}

// events collects the data lines of an event stream.
func (w *bodyWalk) events(body []byte) {
	for at := 0; at < len(body); {
		end := len(body)
		if i := bytes.IndexByte(body[at:], '\n'); i >= 0 {
			end = at + i
		}
		line := body[at:end]
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			start := at + len("data:")
			if looksLikeJSON(data) {
				w.values(data, start, &tracing{})
			} else {
				w.list = append(w.list, chunk{start: start, end: end, text: string(data), plain: true})
			}
		}
		at = end + 1
	}
}

// sealed reports whether the values of a member are never changed: ids that join
// calls with results, signatures, encrypted content, and values that are not text.
func sealed(name string) bool {
	switch name {
	case "id", "call_id", "tool_use_id", "tool_call_id", "item_id", "response_id", "previous_response_id", "signature", "encrypted_content",
		"thought_signature", "thoughtSignature", "type", "role", "object", "model", "file_id", "system_fingerprint", "b64_json":
		return true
	}
	return false
}

// tracing collects which text the values of an event belong to.
type tracing struct{ path []string }

// isDelta reports whether events use a member to send a text in chunks.
func isDelta(name string) bool {
	switch name {
	case "content", "text", "partial_json", "arguments", "delta", "thinking", "reasoning_content", "reasoning", "refusal", "input", "summary", "partial":
		return true
	}
	return false
}

// values collects the strings of a JSON text that begins at base in the body. t is
// nil outside an event stream.
func (w *bodyWalk) values(text []byte, base int, t *tracing) {
	begun := len(w.list)
	for leaf := range rawjson.Leaves(text) {
		raw, name := text[leaf.Start:leaf.End], leaf.Name()
		switch {
		case leaf.Number:
			if n := len(leaf.Names); t != nil && n > 0 && strings.HasSuffix(leaf.Names[n-1], "index") {
				t.path = append(t.path, leaf.Names[n-1]+string(raw))
			}
		case !sealed(name) && len(raw) > 0 && (t != nil || len(raw) >= 8):
			stream := ""
			if t != nil && isDelta(name) {
				stream = "/" + strings.Join(leaf.Names, "/")
			}
			w.list = append(w.list, chunk{start: base + leaf.Start, end: base + leaf.End, text: unquoted(raw), name: name, stream: stream})
		case t != nil && name == "item_id":
			t.path = append(t.path, string(raw))
		}
	}
	if t == nil {
		return
	}
	marks := strings.Join(t.path, ",")
	for k := begun; k < len(w.list); k++ {
		if w.list[k].stream != "" {
			w.list[k].stream += " " + marks
		}
	}
}

// unquoted decodes the text between the quotes of a string.
func unquoted(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	return rawjson.Unquote(slices.Concat([]byte{'"'}, raw, []byte{'"'}))
}

// splices finds the secrets in all chunks.
func (s *Scrubber) splices(w *bodyWalk) []Splice {
	var out []Splice
	streams := map[string][]int{}
	var order []string
	for i := range w.list {
		p := &w.list[i]
		if p.stream != "" {
			if streams[p.stream] == nil {
				order = append(order, p.stream)
			}
			streams[p.stream] = append(streams[p.stream], i)
			continue
		}
		if text := s.value(p.name, p.text); text != p.text {
			out = append(out, p.splice(text))
		}
	}
	for _, name := range order {
		out = s.stream(w, streams[name], out)
	}
	slices.SortFunc(out, func(a, b Splice) int { return cmp.Compare(a.Start, b.Start) })
	return out
}

func (p *chunk) splice(text string) Splice {
	if !p.plain {
		quoted := rawjson.Quote(text)
		text = string(quoted[1 : len(quoted)-1])
	}
	return Splice{p.start, p.end, text}
}

// value scrubs the value of a member. The member's name may show that the whole value
// is a secret.
func (s *Scrubber) value(name, text string) string {
	if name != "" && !strings.ContainsAny(text, " \n") && speaksOfSecret(name) && isSecretValue(name, text) && !s.kept(text) && len(s.find(text)) == 0 {
		return s.placeholder("secret", text)
	}
	return s.Text(text)
}

// stream scrubs a text that comes in chunks. The placeholder of a secret that is
// spread over several stands in the first.
func (s *Scrubber) stream(w *bodyWalk, chunks []int, out []Splice) []Splice {
	var all strings.Builder
	starts := make([]int, len(chunks))
	for k, i := range chunks {
		starts[k] = all.Len()
		all.WriteString(w.list[i].text)
	}
	text := all.String()
	found := s.look(text)
	if len(found) == 0 {
		return out
	}
	names := make([]string, len(found))
	for k, f := range found {
		names[k] = s.placeholder(f.Kind, text[f.Start:f.End])
	}
	next := 0
	for k, i := range chunks {
		p := &w.list[i]
		from, to := starts[k], starts[k]+len(p.text)
		for next < len(found) && found[next].End <= from {
			next++
		}
		var now strings.Builder
		at := from
		for n := next; n < len(found) && found[n].Start < to; n++ {
			f := found[n]
			if f.Start >= from {
				now.WriteString(text[at:f.Start])
				now.WriteString(names[n])
			}
			at = min(f.End, to)
		}
		now.WriteString(text[at:to])
		if got := now.String(); got != p.text {
			out = append(out, p.splice(got))
		}
	}
	return out
}
