package formats

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"regexp"
	"strings"

	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

//go:embed transcript.html
var pageSource string

// page escapes everything by its context, so that no text becomes markup.
var page = template.Must(template.New("page").Parse(pageSource))

// HTML writes conversations into one page that opens anywhere: it runs no script and
// loads nothing. It also holds the conversations as JSON, in the element with the id
// "transcript". An unfinished one is marked.
func HTML(w io.Writer, title string, list []*Conversation, lost *Losses) error {
	p := htmlPage{Title: title}
	for _, c := range list {
		p.Conversations = append(p.Conversations, newHTMLConversation(c, lost))
	}
	if p.Title == "" && len(p.Conversations) > 0 {
		p.Title = p.Conversations[0].Title
	}
	if err := page.Execute(w, p); err != nil {
		return fmt.Errorf("write html: %w", err)
	}
	return nil
}

type htmlPage struct {
	Title         string             `json:"title"`
	Conversations []htmlConversation `json:"conversations"`
}

type htmlConversation struct {
	Title      string     `json:"title"`
	Ref        string     `json:"ref"`
	ID         string     `json:"id"`
	Model      string     `json:"model"`
	StartedAt  string     `json:"started_at"`
	Unfinished string     `json:"unfinished,omitempty"`
	Gap        string     `json:"gap,omitempty"`
	Error      string     `json:"error,omitempty"`
	Tools      []string   `json:"tools,omitempty"`
	Beats      []htmlBeat `json:"messages"`
}

type htmlBeat struct {
	Role  string      `json:"role"`
	Pages []htmlPiece `json:"content"`
}

type htmlPiece struct {
	Kind     string      `json:"kind"` // "text", "reasoning", "call", "raw"
	Label    string      `json:"label,omitempty"`
	Text     string      `json:"text,omitempty"`
	Result   *string     `json:"result,omitempty"`
	IsError  bool        `json:"is_error,omitempty"`
	Open     bool        `json:"-"`
	Pictures []safeImage `json:"-"`
	Results  []safeImage `json:"-"`
}

type safeImage struct{ URL template.URL }

func newHTMLConversation(c *Conversation, lost *Losses) htmlConversation {
	e := c.Exchange
	h := htmlConversation{Title: headline(c), Ref: c.Ref, ID: e.ID, Model: modelOf(e), StartedAt: when(e.StartedAt),
		Unfinished: c.Unfinished(), Gap: string(c.Gap)}
	if e.Error != nil {
		h.Error = transcript.FailureItem(e.Error).Text
	}
	for i := range c.Tools {
		h.Tools = append(h.Tools, c.Tools[i].Name)
	}
	for _, b := range c.beats(lost) {
		h.Beats = append(h.Beats, newHTMLBeat(b, lost))
	}
	return h
}

// openText is the length up to which a text is shown unfolded.
const openText = 2000

func newHTMLBeat(b *beat, lost *Losses) htmlBeat {
	h := htmlBeat{Role: b.role}
	call := 0
	for _, it := range b.items {
		p := htmlPiece{Kind: "text", Text: it.Text, Open: len(it.Text) <= openText && b.role != "system"}
		switch {
		case isCall(it):
			p.Kind, p.Label, p.Text = "call", it.Name, prettyArguments(it)
			if r := b.results[call]; r != nil {
				p.Result, p.IsError, p.Results = &r.Text, r.IsError, safeImages(r, lost)
				p.Open = len(r.Text) <= openText
			}
			call++
		case it.Kind == transcript.Reasoning && it.Text == "":
			lost.add("encrypted reasoning")
			continue
		case it.Kind == transcript.Reasoning:
			p.Kind, p.Label, p.Open = "reasoning", "Reasoning", false
		case it.ServerSide && it.Kind == transcript.ToolCall:
			p.Kind, p.Label, p.Text = "raw", it.Name+", run by the provider", prettyArguments(it)
		case it.ServerSide:
			p.Kind, p.Label = "raw", "result, by the provider"
		case it.Kind == transcript.MessageItem, it.Kind == transcript.System, it.Kind == transcript.Compaction && it.Text != "":
			p.Pictures = safeImages(it, lost)
		default:
			p.Kind, p.Label, p.Text = "raw", string(it.Kind), string(it.Raw)
		}
		h.Pages = append(h.Pages, p)
	}
	return h
}

func prettyArguments(it *transcript.Item) string {
	raw := arguments(it)
	if text, ok := rawjson.Indent([]byte(raw), math.MaxInt); ok {
		return string(text)
	}
	return raw
}

var (
	imageType  = regexp.MustCompile(`^image/(png|jpeg|gif|webp)$`)
	base64Text = regexp.MustCompile(`^[A-Za-z0-9+/]+=*$`)
)

// safeImages returns the images that are inside the message and of a type that runs
// nothing. Others would be loaded from elsewhere.
func safeImages(it *transcript.Item, lost *Losses) []safeImage {
	var out []safeImage
	if len(it.Parts) == 0 {
		return nil
	}
	for _, p := range partsOf(it) {
		switch {
		case imageType.MatchString(p.mediaType) && base64Text.MatchString(p.data):
			out = append(out, safeImage{template.URL("data:" + p.mediaType + ";base64," + p.data)}) //nolint:gosec // both are checked
		case p.image != "":
			lost.add("images outside the message")
		case p.other != "":
			lost.add("parts of type " + p.other)
		}
	}
	return out
}

// roleName is how a page names a role.
func (b htmlBeat) RoleName() string { return strings.ToUpper(b.Role[:1]) + b.Role[1:] }
