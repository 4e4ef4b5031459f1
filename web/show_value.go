package web

import (
	"net/url"
	"strings"

	"github.com/retake-debugger/retake/analysis"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/web/safehtml"
)

const (
	maxValue   = 64 << 10 // of one value in a page
	pageBudget = 1 << 20  // of all values in a page, escaped
	leastShown = 400      // of a value when the page is full
	maxFields  = 60       // arguments shown one by one
)

// folding is how soon a value is folded.
type folding int

const (
	closed folding = iota // shown only on request
	moderate
	open // the subject of the page
)

// limits returns the size from which a value is folded, and how much of it stays
// outside the fold.
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
	Text    string // the part on the page
	Preview string // the beginning, if it is folded
	Size    int64  // of the whole, in bytes
	Folded  bool
	Cut     bool   // Text is not the whole
	Whole   string // address of the whole, as plain text
	Code    bool   // data rather than words
	Note    string // what is wrong with it
	Scrolls bool   // it has a scrolling box, which needs keyboard focus
	Form    safehtml.Form
	Spans   []analysis.Span // if the text replaces another one

	shown safehtml.Shown
	start []analysis.Span // of Spans, outside the fold
}

// Shown returns the text as HTML, in its form.
func (v value) Shown() safehtml.Shown {
	switch {
	case v.Spans != nil:
		return safehtml.Spans(v.Spans)
	case v.shown == "":
		return safehtml.Show(v.Form, v.Text, true)
	}
	return v.shown
}

// ShownPreview returns the beginning as HTML, in its form.
func (v value) ShownPreview() safehtml.Shown {
	switch {
	case v.start != nil:
		return safehtml.Spans(v.start)
	case v.Form == safehtml.Markdown && !strings.Contains(v.Preview, "\n"): // a single line has no Markdown structure left
		return safehtml.Show(safehtml.Text, v.Preview, false)
	}
	return safehtml.Show(v.Form, v.Preview, false)
}

// Class returns the class of the form.
func (v value) Class() string {
	class := ""
	if v.Code {
		class = " data"
	}
	if name := v.Form.Name(); name != "" {
		class += " " + name
	}
	return class
}

// budget bounds how much text a page contains. The first values get most.
type budget struct{ left int }

func newBudget() *budget { return &budget{pageBudget} }

// value folds and cuts a text.
func (b *budget) value(text, whole string, how folding) value {
	return b.formed(text, whole, how, safehtml.Text)
}

// words shows text written by people and models.
func (b *budget) words(text, whole string, how folding) value {
	return b.formed(text, whole, how, safehtml.Words(transcript.Head(text, maxValue)))
}

func (b *budget) formed(text, whole string, how folding, form safehtml.Form) value {
	v := value{Size: int64(len(text)), Whole: whole, Form: form}
	limit := maxValue
	if b.left < cost(transcript.Head(text, maxValue)) {
		limit = max(min(maxValue, b.left/4), leastShown)
	}
	v.Text = transcript.Head(text, limit)
	v.Cut = len(v.Text) < len(text)
	v.shown = safehtml.Show(form, v.Text, true)
	b.left -= len(v.shown)
	bytes, lines, previewBytes, previewLines := how.limits()
	if len(text) > bytes || strings.Count(v.Text, "\n") >= lines {
		v.Folded, v.Preview = true, preview(v.Text, previewBytes, previewLines)
	}
	return v
}

// cost returns the size of a text on a page.
func cost(text string) int { return len(safehtml.Show(safehtml.Text, text, false)) }

func preview(text string, bytes, lines int) string {
	parts := strings.SplitN(transcript.Head(text, bytes), "\n", lines+1)
	return strings.TrimRight(strings.Join(parts[:min(len(parts), lines)], "\n"), "\n")
}

// data shows a text that may be JSON: indented if it is, with every digit kept.
func (b *budget) data(text, whole string, how folding) value {
	return b.dataOr(text, whole, how, safehtml.Text)
}

// dataOr is data with a form for text that is not JSON and has no form of its own.
func (b *budget) dataOr(text, whole string, how folding, other safehtml.Form) value {
	shown, form := text, safehtml.JSON
	if pretty, ok := indent(text, maxValue); ok {
		shown = pretty
	} else {
		form = safehtml.FormOf(transcript.Head(text, maxValue))
		if form == safehtml.Text {
			form = other
		}
		if form == safehtml.Text {
			form = safehtml.OfBeginning(text)
		}
	}
	v := b.formed(shown, whole, how, form)
	v.Size, v.Code = int64(len(text)), true
	return v
}

// indent lays out a JSON object or array, and stops when that is more than most bytes.
func indent(text string, most int) (string, bool) {
	t := strings.TrimSpace(text)
	if len(t) < 2 || t[0] != '{' && t[0] != '[' {
		return "", false
	}
	out, ok := rawjson.Indent([]byte(t), most+1)
	return string(out), ok
}

// itemURL returns the address of one item as plain text. part is text, arguments or
// raw.
func itemURL(p transcript.Place, part string) string {
	q := url.Values{"side": {p.Body}, "at": {p.At}, "part": {part}}
	return "/x/" + url.PathEscape(p.Exchange) + "/item?" + q.Encode()
}
