package mock

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/retake-debugger/retake/rawjson"
)

// A Mask takes out of requests what differs from run to run without meaning: every
// member of that name, or the parts of texts that fit the pattern.
type Mask struct {
	Name    string
	Member  string
	Pattern *regexp.Regexp
	start   start
}

// Masks are those that always count.
func Masks() []Mask {
	var list []Mask
	for _, name := range []string{"cache_control", "prompt_cache_key", "safety_identifier", "user_id", "session_id", "client_metadata", "request_id"} {
		list = append(list, Mask{Name: "member", Member: name})
	}
	for _, m := range [...]struct {
		name, pattern string
		start         start
	}{
		{"uuid", `[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`, start{needs: holding("-"), first: hex, dashes: []int{8, 13}}},
		{"date", `\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?(?:Z|UTC|[+-]\d{2}:?\d{2}))?)?`, start{needs: holding("-"), first: digits, word: true, dashes: []int{4, 7}}},
		{"date", `\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* \d{1,2},? (?:\d{2}:\d{2}:\d{2} )?(?:[A-Z]{3,4} )?\d{4}\b`, start{needs: anyText, first: days + months, word: true}},
		{"date", `\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? )?\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* \d{4}\b`, start{needs: anyText, first: days + digits, word: true}},
		{"date", `\b\d{1,2}/\d{1,2}/\d{4}\b`, start{needs: holding("/"), first: digits, word: true}},
		{"time", `\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?(?: ?[AP]M\b)?`, start{needs: holding(":"), first: digits, word: true}},
		{"duration", `\b\d+(?:\.\d+)? ?(?:ns|µs|us|ms|s|secs?|seconds?|mins?|minutes?|hours?)\b`, start{needs: anyText, first: digits, word: true}},
		{"tokens", `(?i)\btoken usage: [\d,]+/[\d,]+; [\d,]+ remaining`, start{needs: speaksOfTokens}},
		{"tokens", `(?i)\b[\d,.]+k? (?:of [\d,.]+k? )?tokens? (?:left|remaining|used)\b`, start{needs: speaksOfTokens}},
		{"tokens", `(?i)\btokens (?:left|remaining|used): [\d,.]+k?`, start{needs: speaksOfTokens}},
		{"path", `(?:/private)?(?:/var)?/tmp/[^/\s"'\\<>:;,()` + "`" + `]+`, start{needs: holding("/tmp/"), first: "/"}},
		{"path", `(?:/private)?/var/folders/[^/\s]+/[^/\s]+/T(?:/[^/\s"'\\<>:;,()` + "`" + `]+)?`, start{needs: holding("/var/folders/"), first: "/"}},
		{"path", `(?:-private)?-(?:var-)?tmp-[A-Za-z0-9]+(?:-[A-Za-z0-9]+)?`, start{needs: holding("tmp-"), first: "-"}}, // how Claude Code names a project's folder
	} {
		list = append(list, Mask{Name: m.name, Pattern: regexp.MustCompile(m.pattern), start: m.start.of(m.pattern)})
	}
	return list
}

// ParseMask reads a user's pattern.
func ParseMask(pattern string) (Mask, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return Mask{}, fmt.Errorf("parse mask: %w", err)
	}
	return Mask{Name: "own", Pattern: re}, nil
}

// String returns what the mask takes out.
func (m Mask) String() string {
	if m.Member != "" {
		return "member    " + m.Member
	}
	return fmt.Sprintf("%-9s %s", m.Name, m.Pattern)
}

// WorkingDirectory says in words what is masked without a pattern.
const WorkingDirectory = `path      the working directory that a request names ("working directory: …", <cwd>…</cwd>), wherever it stands in it`

// exempt members hold ids that the recording minted and the client sends back. An id may
// be the client's own (Codex: at_ and a UUID); what a call's result belongs to is not.
var exempt = map[string]bool{"call_id": true, "tool_call_id": true, "tool_use_id": true, "previous_response_id": true, "item_id": true}

// masker masks values; the working directory is that of one request.
type masker struct {
	members map[string]bool
	texts   []Mask
	cwd     string
}

func newMasker(masks []Mask) *masker {
	m := &masker{members: map[string]bool{}}
	for _, mask := range masks {
		if mask.Member != "" {
			m.members[mask.Member] = true
		} else {
			m.texts = append(m.texts, mask)
		}
	}
	return m
}

// in returns the masker for a request.
func (m *masker) in(body []byte) *masker {
	own := *m
	own.cwd = workingDirectory(body)
	return &own
}

func (m *masker) text(s string) string {
	if m.cwd != "" {
		s = strings.ReplaceAll(s, m.cwd, "<cwd>")
	}
	for _, mask := range m.texts {
		s = mask.start.replace(mask.Pattern, s, "<"+mask.Name+">")
	}
	return s
}

// value masks a decoded value, in place.
func (m *masker) value(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			_, isText := inner.(string)
			switch {
			case m.members[name], inner == nil, name == "stream" && inner == false:
				delete(v, name)
			case !exempt[name] || !isText:
				v[name] = m.value(inner)
			}
		}
	case []any:
		for i := range v {
			v[i] = m.value(v[i])
		}
	case string:
		return m.text(v)
	}
	return v
}

// mask returns the canonical form of a JSON value with what is masked taken out. What
// is no JSON is masked as text.
func (m *masker) mask(raw []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if !json.Valid(raw) || d.Decode(&v) != nil {
		return []byte(m.text(string(raw)))
	}
	out, err := json.Marshal(m.value(v))
	if err != nil {
		return raw
	}
	return canonical(out)
}

// canonical returns equal bytes for equal values; what is no JSON stays.
func canonical(raw []byte) []byte {
	if c, err := rawjson.Canonical(raw); err == nil {
		return c
	}
	return raw
}

// workingDirectory finds the directory that a request says its client works in:
// "Working directory: /x" (Claude Code, opencode), "<cwd>/x</cwd>" (Codex).
func workingDirectory(body []byte) string {
	for _, mark := range []string{"<cwd>", "orking directory: ", "orking directory is "} {
		at := bytes.Index(body, []byte(mark))
		if at < 0 {
			continue
		}
		rest := body[at+len(mark):]
		end := bytes.IndexAny(rest, "<\"\\ \n\r\t`")
		if end > 3 && end < 1024 && rest[0] == '/' {
			return strings.TrimRight(string(rest[:end]), "/.,")
		}
	}
	return ""
}
