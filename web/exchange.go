package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// exchangeHead is the top of each page about one exchange.
type exchangeHead struct {
	layout
	Row        *view.Row
	Tab        string
	Prev, Next string // references of the neighbours by number
	Model      string // as asked for, or as answered
	Warnings   []string
	Heading    string
	InRun      string // reference of its run
	Place      string // place in that run, for a page that acts on the exchange
}

// transcriptPage is the conversation of one exchange.
type transcriptPage struct {
	exchangeHead
	T        *view.Transcript
	Sections []section
	Left     int // entries of the history that are left out
	Troubles []trouble
	Found    []lint.Finding // that belong to no block
	Findings int
	Tools    []tool
	Edits    []edit
}

// tool is one tool that the model was offered.
type tool struct {
	Name       string
	Definition value
	Raw        string
}

// edit is one change that a replay made.
type edit struct {
	CallID    string
	Was, Text value
}

func (s *server) transcript(c *gin.Context) {
	ctx := c.Request.Context()
	e, err := s.find(ctx, c.Param("ref"))
	if err != nil {
		s.failed(c, err)
		return
	}
	t, err := view.NewTranscript(ctx, s.reader, e)
	if err != nil {
		s.failed(c, err)
		return
	}
	if at := c.Query("at"); at != "" {
		c.Redirect(http.StatusFound, exchangeURL(e.N)+pointTo(t, transcript.Place{Exchange: e.ID, Body: c.Query("side"), At: at}))
		return
	}
	t.Exchange.Price(s.prices)
	head, err := s.head(ctx, &t.Exchange.Row, "transcript")
	if err != nil {
		s.failed(c, err)
		return
	}
	s.show(c, http.StatusOK, "transcript", newTranscriptPage(head, t, c.Query("history") == "all"))
}

// pointTo returns the URL of the item at a place, "" if the exchange's page does
// not show it.
func pointTo(t *view.Transcript, p transcript.Place) string {
	t = setupFirst(t)
	b := blocks{t: t, sections: sectionsOf(t), numbers: numbersOf(t)}
	skip := b.skipped(false)
	for i := range t.Entries {
		e := &t.Entries[i]
		if !isAt(e.Place, p) && (e.Pair == nil || e.Pair.Result == nil || !isAt(*e.Pair.Result, p)) {
			continue
		}
		if skip[i] {
			return "?history=all#" + anchor(i)
		}
		return "#" + anchor(i)
	}
	return ""
}

// isAt reports whether p is the place meant, which may leave out the body.
func isAt(p, meant transcript.Place) bool {
	return p.Exchange == meant.Exchange && p.At == meant.At && (meant.Body == "" || p.Body == meant.Body)
}

func (s *server) head(ctx context.Context, r *view.Row, tab string) (exchangeHead, error) {
	h := exchangeHead{Row: r, Tab: tab, Model: r.Model, Warnings: r.Warnings, Heading: r.Preview}
	if h.Model == "" {
		h.Model = r.ResponseModel
	}
	if h.Heading == "" {
		h.Heading = r.Method + " " + r.URL
	}
	h.Title = r.Ref() + " " + oneLine(h.Heading, 60)
	var err error
	if h.InRun, err = s.runOf(ctx, r.Run); err != nil {
		return h, err
	}
	if h.Prev, err = s.neighbour(ctx, transcript.Filter{Before: r.N, Limit: 1}); err != nil {
		return h, err
	}
	h.Next, err = s.neighbour(ctx, transcript.Filter{After: r.N, Limit: 1, Oldest: true})
	return h, err
}

// headOf returns the head of a page that acts on an exchange.
func (s *server) headOf(ctx context.Context, e *transcript.Exchange, tab string) (exchangeHead, error) {
	row := view.NewRow(e)
	h, err := s.head(ctx, &row, tab)
	h.Place = placeOf(e.Link)
	return h, err
}

func placeOf(l transcript.Link) string {
	switch {
	case l.Side:
		return "a side call"
	case l.Attempt > 1:
		return fmt.Sprintf("step %d, attempt %d", l.Step, l.Attempt)
	}
	return fmt.Sprintf("step %d", l.Step)
}

func (s *server) neighbour(ctx context.Context, f transcript.Filter) (string, error) {
	rows, err := view.Rows(ctx, s.reader, f)
	if len(rows) > 0 || errors.Is(err, transcript.ErrDamaged) {
		err = nil
	}
	if err != nil || len(rows) == 0 {
		return "", err
	}
	return rows[0].Ref(), nil
}

func newTranscriptPage(h exchangeHead, t *view.Transcript, all bool) *transcriptPage {
	p := &transcriptPage{exchangeHead: h, T: t}
	p.Sections, p.Left = layOut(t, all)
	p.Troubles = troubles(p.Sections)
	p.Found, p.Findings = worth(t.Findings), len(worth(t.Exchange.Lint))
	b := newBudget()
	for i := range t.Exchange.Input {
		if it := &t.Exchange.Input[i]; it.Kind == transcript.ToolDefinition {
			p.Tools = append(p.Tools, toolOf(b, it, t.Exchange.ID))
		}
	}
	p.readEdits(b)
	return p
}

func toolOf(b *budget, it *transcript.Item, exchange string) tool {
	raw := itemURL(transcript.Place{Exchange: exchange, Body: "request", At: it.At}, "raw")
	v := b.data(string(it.Raw), raw, open)
	v.Folded = false
	return tool{Name: it.Name, Definition: v, Raw: raw}
}

// readEdits shows the edits of a take.
func (p *transcriptPage) readEdits(b *budget) {
	for _, e := range p.T.Edits {
		p.Edits = append(p.Edits, edit{e.CallID, b.data(e.Was, "", open), b.data(e.Text, "", open)})
	}
}
