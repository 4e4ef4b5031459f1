package web

import (
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// bodyShown bounds how much of a body a page holds; hexShown the same for one
// that is not text.
const (
	bodyShown = 256 << 10
	hexShown  = 4 << 10
)

// wirePage is one exchange as it went over the wire.
type wirePage struct {
	exchangeHead
	X        *view.Exchange
	Sides    []side
	Events   *eventsPart // nil if the answer was not streamed
	Usage    *usagePart
	UsageRaw value
	Parent   string // reference of the exchange that this one continues
}

// side is the request or the response.
type side struct {
	Name     string
	Start    string // the line that begins it
	Message  *view.Message
	Headers  []header
	Programs []exportItem // that repeat the request
	New      *newPart
	Decoded  int64 // bytes after the content encoding is undone, if there was one
	Pretty   value
	Text     value
	Binary   bool
	Download string
}

type header struct{ Name, Value string }

// newPart is the part of a request that the history before it does not contain.
type newPart struct {
	view.NewPart
	Text value
}

func (s *server) wire(c *gin.Context) {
	ctx := c.Request.Context()
	e, err := s.find(ctx, c.Param("ref"))
	if err != nil {
		s.failed(c, err)
		return
	}
	x, err := view.NewExchange(ctx, s.reader, e)
	if err != nil {
		s.failed(c, err)
		return
	}
	bodies, err := history.Read(ctx, s.reader, e)
	if err != nil {
		s.failed(c, err)
		return
	}
	h, err := s.head(ctx, &x.Row, "wire")
	if err != nil {
		s.failed(c, err)
		return
	}
	x.Price(s.prices)
	p := newWirePage(h, x, bodies)
	p.Usage = newUsagePart(&x.Row, s.prices)
	if parent, err := s.reader.Exchange(ctx, e.Link.Parent); err == nil {
		p.Parent = view.Ref(parent.N)
	}
	p.Sides[0].New = newOnly(view.NewIn(e, bodies.Request, x.Input), p.Sides[0].Download)
	shown := eventsShown
	if c.Query("events") == "all" {
		shown = eventsAtMost
	}
	events, total := view.Events(e, bodies.Response, shown)
	p.Events = newEventsPart(events, total, shown, p.moreEvents(shown))
	s.show(c, http.StatusOK, "wire", p)
}

// moreEvents returns the address of the page with more events than shown.
func (p *wirePage) moreEvents(shown int) string {
	if shown == eventsAtMost {
		return p.Sides[1].Download
	}
	return "/x/" + strconv.FormatInt(p.X.N, 10) + "/wire?events=all#events"
}

func newOnly(n *view.NewPart, download string) *newPart {
	if n == nil {
		return nil
	}
	v, _ := laidOut(n.JSON, download)
	return &newPart{*n, v}
}

func newWirePage(h exchangeHead, x *view.Exchange, bodies history.Bodies) *wirePage {
	p := &wirePage{exchangeHead: h, X: x}
	start := "no answer"
	if x.Status != 0 {
		start = statusWord(x.Status)
	}
	path := "/x/" + x.Ref()
	p.Sides = []side{
		newSide("request", x.Method+" "+x.URL, &x.Request, bodies.Request, path+"/request"),
		newSide("response", start, &x.Response, bodies.Response, path+"/response"),
	}
	for _, name := range []string{"curl", "python", "go"} {
		p.Sides[0].Programs = append(p.Sides[0].Programs, exportItem{name, path + "/export?format=" + name})
	}
	if len(x.UsageRaw) > 0 {
		p.UsageRaw = newBudget().data(string(x.UsageRaw), "", open)
	}
	return p
}

func newSide(name, start string, m *view.Message, body []byte, download string) side {
	s := side{Name: name, Start: start, Message: m, Headers: headersOf(m.Headers), Download: download}
	if m.ContentEncoding != "" && m.ContentEncoding != "identity" {
		s.Decoded = int64(len(body))
	}
	if text := transcript.Head(string(body[:min(len(body), 2*bodyShown)]), bodyShown); utf8.ValidString(text) {
		s.Text = whole(text, len(body), download)
		if pretty, ok := laidOut(body, download); ok {
			s.Pretty = pretty
		}
		return s
	}
	s.Binary = true
	s.Text = whole(hex.Dump(body[:min(len(body), hexShown)]), len(body), download)
	s.Text.Cut = len(body) > hexShown
	return s
}

// laidOut shows JSON in lines. ok is false if text is none; then it stands as it is.
func laidOut(text []byte, download string) (v value, ok bool) {
	pretty, ok := indent(string(text), bodyShown)
	if !ok {
		return whole(transcript.Head(string(text), bodyShown), len(text), download), false
	}
	size := len(pretty)
	if size > bodyShown { // indent stopped there
		size = max(size, len(text))
	}
	return whole(transcript.Head(pretty, bodyShown), size, download), true
}

func whole(text string, size int, download string) value {
	return value{Scrolls: true, Text: text, Size: int64(size), Cut: len(text) < size, Whole: download, Code: true}
}

func headersOf(h map[string][]string) []header {
	var out []header
	for name, values := range h {
		for _, v := range values {
			out = append(out, header{name, v})
		}
	}
	slices.SortStableFunc(out, func(a, b header) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	return out
}

// messageOf returns one side of a stored exchange.
func messageOf(e *transcript.Exchange, side string) *transcript.Message {
	if side == "response" {
		return &e.Response
	}
	return &e.Request
}
