package web

import (
	"bytes"
	"encoding/json"
	"html/template"
	"net/url"
	"strings"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

const (
	maxValue   = 64 << 10 // of one value in a page
	pageBudget = 1 << 20  // of all values in a page, escaped
	leastShown = 400      // of a value when the page is full
	maxFields  = 60       // arguments shown one by one
)

// folding says how soon a value is folded.
type folding int

const (
	closed folding = iota // nobody asked for it
	moderate
	open // it is what the page is about
)

// limits gives from what size on a value is folded, and how much of it stays
// outside.
func (f folding) limits() (bytes, lines, previewBytes, previewLines int) {
	switch f {
	case open:
		return 12_000, 120, 1200, 16
	case moderate:
		return 1200, 12, 600, 8
	}
	return 600, 8, 400, 4
}

// value is a text as a page shows it.
type value struct {
	Text    string // what the page holds of it
	Preview string // the beginning, of a folded one
	Size    int64  // of the whole, in bytes
	Folded  bool
	Cut     bool   // Text is not the whole
	Whole   string // where the whole is, as plain text
	Code    bool   // data rather than words
	Note    string // what is wrong with it
	Scrolls bool   // it stands in a box of its own, which the keyboard has to reach
}

// field is one argument of a call.
type field struct {
	Name    string
	Value   value
	Literal bool // a number, an object …: not a string
}

// budget bounds how much text a page holds. What comes first gets most.
type budget struct{ left int }

func newBudget() *budget { return &budget{pageBudget} }

// value folds and cuts a text.
func (b *budget) value(text, whole string, how folding) value {
	v := value{Size: int64(len(text)), Whole: whole}
	limit := maxValue
	if b.left < cost(view.Head(text, maxValue)) {
		limit = max(min(maxValue, b.left/4), leastShown)
	}
	v.Text = view.Head(text, limit)
	v.Cut = len(v.Text) < len(text)
	b.left -= cost(v.Text)
	bytes, lines, previewBytes, previewLines := how.limits()
	if len(text) > bytes || strings.Count(v.Text, "\n") >= lines {
		v.Folded, v.Preview = true, preview(v.Text, previewBytes, previewLines)
	}
	return v
}

// cost is about what a text takes in a page.
func cost(text string) int {
	n := 0
	for _, r := range runs(text) {
		n += len(template.HTMLEscapeString(r.Text))
		if r.Mark {
			n += len(`<span class="mark"></span>`)
		}
	}
	return n
}

func preview(text string, bytes, lines int) string {
	parts := strings.SplitN(view.Head(text, bytes), "\n", lines+1)
	return strings.TrimRight(strings.Join(parts[:min(len(parts), lines)], "\n"), "\n")
}

// data shows a text that may be JSON: indented if it is, every digit kept.
func (b *budget) data(text, whole string, how folding) value {
	shown := text
	if pretty, ok := indent(text); ok {
		shown = pretty
	}
	v := b.value(shown, whole, how)
	v.Size, v.Code = int64(len(text)), true
	return v
}

// indent lays out a JSON object or array. Numbers and strings stay as written.
func indent(text string) (string, bool) {
	t := strings.TrimSpace(text)
	if len(t) < 2 || len(t) > 1<<20 || (t[0] != '{' && t[0] != '[') {
		return "", false
	}
	var b bytes.Buffer
	if json.Indent(&b, []byte(t), "", "  ") != nil {
		return "", false
	}
	return b.String(), true
}

// fields shows the arguments of a call one by one, in their order. nil if they
// are no object or too many.
func (b *budget) fields(arguments json.RawMessage, whole string) []field {
	dec := json.NewDecoder(bytes.NewReader(arguments))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var out []field
	for dec.More() {
		name, err := dec.Token()
		if err != nil || len(out) == maxFields {
			return nil
		}
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			return nil
		}
		out = append(out, b.field(name.(string), raw, whole))
	}
	return out
}

func (b *budget) field(name string, raw json.RawMessage, whole string) field {
	var text string
	if len(raw) > 2 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		v := b.value(text, whole, moderate)
		v.Code = true
		return field{Name: name, Value: v}
	}
	return field{Name: name, Value: b.data(string(raw), whole, moderate), Literal: true}
}

// itemURL is where one item is as plain text. part is text, arguments or raw.
func itemURL(p transcript.Place, part string) string {
	q := url.Values{"side": {p.Body}, "at": {p.At}, "part": {part}}
	return "/x/" + url.PathEscape(p.Exchange) + "/item?" + q.Encode()
}
