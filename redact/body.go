package redact

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Splice is a change that Body made: Text instead of the bytes from Start to
// End.
type Splice struct {
	Start, End int
	Text       string
}

// Moved gives where a byte offset of a body is after its splices.
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

// Body replaces the secrets in a body. What is JSON stays JSON: only values of
// strings change, and neither those that are ids nor signatures. In an event
// stream a secret is found that several events bring piece by piece; the
// placeholder then stands where it began. Any other text is one text; bytes that
// are none stay as they are.
func (s *Scrubber) Body(body []byte) ([]byte, []Splice) {
	var w bodyWalk
	switch {
	case looksLikeJSON(body):
		w.values(body, 0, nil)
	case looksLikeEvents(body):
		w.events(body)
	case utf8.Valid(body):
		w.list = append(w.list, piece{end: len(body), text: string(body), plain: true})
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

// piece is a text in a body.
type piece struct {
	start, end int // of its value, quotes aside
	text       string
	name       string // of the member that it is the value of
	plain      bool   // it stands there as it is, not in a string
	stream     string // of an event: what it is a part of; "" if it stands alone
}

type bodyWalk struct{ list []piece }

func looksLikeJSON(body []byte) bool {
	t := bytes.TrimLeft(body, " \t\r\n")
	return len(t) > 0 && (t[0] == '{' || t[0] == '[')
}

func looksLikeEvents(body []byte) bool {
	t := bytes.TrimLeft(body, "\r\n")
	return bytes.HasPrefix(t, []byte("data:")) || bytes.HasPrefix(t, []byte("event:")) || bytes.HasPrefix(t, []byte(":")) || bytes.HasPrefix(t, []byte("id:"))
}

// events takes the data lines of an event stream.
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
				w.list = append(w.list, piece{start: start, end: end, text: string(data), plain: true})
			}
		}
		at = end + 1
	}
}

// sealed are the members whose values are never changed: ids that pair calls with
// results, signatures, what is encrypted or no text.
func sealed(name string) bool {
	switch name {
	case "id", "call_id", "tool_use_id", "tool_call_id", "item_id", "response_id", "previous_response_id", "signature", "encrypted_content",
		"thought_signature", "thoughtSignature", "type", "role", "object", "model", "file_id", "system_fingerprint", "b64_json":
		return true
	}
	return false
}

// tracing tells which values of events belong together.
type tracing struct{ path []string }

// pieceMembers are those by which events bring a text piece by piece.
func pieceMember(name string) bool {
	switch name {
	case "content", "text", "partial_json", "arguments", "delta", "thinking", "reasoning_content", "reasoning", "refusal", "input", "summary", "partial":
		return true
	}
	return false
}

// values takes the strings of JSON that begins at base in the body. It goes on
// over what is no JSON.
func (w *bodyWalk) values(text []byte, base int, t *tracing) {
	type level struct {
		object bool
		name   string
		wants  bool // a name comes next
	}
	stack := []level{}
	begun := len(w.list)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '{', '[':
			stack = append(stack, level{object: c == '{', wants: c == '{'})
		case '}', ']':
			if len(stack) > 0 {
				stack = stack[:len(stack)-1]
			}
		case ',':
			if n := len(stack); n > 0 && stack[n-1].object {
				stack[n-1].wants = true
			}
		case '"':
			end := stringEnd(text, i+1)
			if end < 0 {
				end = len(text)
			}
			raw := text[i+1 : min(end, len(text))]
			n := len(stack)
			if n > 0 && stack[n-1].object && stack[n-1].wants {
				stack[n-1].name, stack[n-1].wants = string(raw), false
				i = end
				continue
			}
			name := ""
			for k := n - 1; k >= 0 && name == ""; k-- {
				name = stack[k].name
			}
			if !sealed(name) && len(raw) > 0 && (t != nil || len(raw) >= 8) {
				path := ""
				if t != nil && pieceMember(name) {
					for k := range stack {
						path += "/" + stack[k].name
					}
				}
				w.list = append(w.list, piece{start: base + i + 1, end: base + i + 1 + len(raw), text: unquoted(raw), name: name, stream: path})
			} else if t != nil && name == "item_id" {
				t.path = append(t.path, string(raw))
			}
			i = end
		case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			start := i
			for i+1 < len(text) && text[i+1] >= '0' && text[i+1] <= '9' {
				i++
			}
			if n := len(stack); t != nil && n > 0 && strings.HasSuffix(stack[n-1].name, "index") {
				t.path = append(t.path, stack[n-1].name+string(text[start:i+1]))
			}
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

// stringEnd gives where the quote is that ends a string, -1 if none does.
func stringEnd(text []byte, from int) int {
	for i := from; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

func unquoted(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	var text string
	if json.Unmarshal(slices.Concat([]byte{'"'}, raw, []byte{'"'}), &text) != nil {
		return ""
	}
	return text
}

func quoted(text string) string {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if e.Encode(text) != nil {
		return ""
	}
	return strings.TrimSuffix(strings.TrimSpace(out.String())[1:], `"`)
}

// splices finds the secrets of all pieces.
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

func (p *piece) splice(text string) Splice {
	if !p.plain {
		text = quoted(text)
	}
	return Splice{p.start, p.end, text}
}

// value scrubs the value of a member. Its name may tell that all of it is a
// secret.
func (s *Scrubber) value(name, text string) string {
	if name != "" && !strings.ContainsAny(text, " \n") && speaksOfSecret(name) && isSecretValue(name, text) && !s.kept(text) && len(s.find(text)) == 0 {
		return s.placeholder("secret", text)
	}
	return s.Text(text)
}

// stream scrubs a text that comes in pieces: where a secret goes over several,
// its placeholder stands in the first.
func (s *Scrubber) stream(w *bodyWalk, pieces []int, out []Splice) []Splice {
	var all strings.Builder
	starts := make([]int, len(pieces))
	for k, i := range pieces {
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
	for k, i := range pieces {
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
