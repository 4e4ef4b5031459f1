package minimise

import (
	"math/big"
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
)

// Smallest is what a Minimiser found.
type Smallest struct {
	Exchange string `json:"exchange"` // id of the one whose request was minimised
	LookedAt string `json:"looked_at"`
	Verdict  string `json:"verdict"`  // what is decisive, in plain words
	Samples  int    `json:"samples"`  // times that a candidate is asked
	AtLeast  int    `json:"at_least"` // answers that have to show it
	Take     string `json:"take"`     // reference of a take of the smallest request
	Group    string `json:"group"`    // of all its takes
	// Decisive are the items that are left, in the order of the conversation, and the
	// tools; not those of which none was tried to be left out.
	Decisive []Decisive `json:"decisive"`
	LeftOut  []Unit     `json:"left_out"` // items and tools that are not needed, in the same order
	Items    Share      `json:"items"`
	Lines    Share      `json:"lines"` // of the long texts of the items that are left
	Tools    Share      `json:"tools"`
	Least    bool       `json:"least"` // without any single one of the parts that are not required it did not show
	Stopped  string     `json:"stopped,omitempty"`
	// Again is how often fresh answers to the smallest request showed it; null if it was
	// not asked again.
	Again      *Answers          `json:"again"`
	Candidates []Tried           `json:"candidates"` // that were asked, in order; the whole request first
	Illegal    int               `json:"illegal"`    // candidates that were not sent, since a provider would refuse them
	Requests   int               `json:"requests"`
	Usage      *transcript.Usage `json:"usage"`
	CostUSD    *string           `json:"cost_usd"`
	LowerBound bool              `json:"cost_is_lower_bound"`
	BytesWhole int               `json:"bytes_whole"`
	Bytes      int               `json:"bytes"` // of the smallest request
	Body       []byte            `json:"-"`
	Edits      []transcript.Edit `json:"edits"` // that make it of the whole request
}

// Share is how many of several parts are left.
type Share struct {
	Kept int `json:"kept"`
	Of   int `json:"of"`
}

// Answers is how many answers show a behaviour.
type Answers struct {
	Yes int `json:"yes"`
	Of  int `json:"of"`
}

// Unit is what goes as a whole: an item, a call with its results, a tool.
type Unit struct {
	N      int             `json:"n"`    // its place among the items, or among the tools, from 1
	Kind   transcript.Kind `json:"kind"` // of its first item: a call stands for its result, too
	At     []string        `json:"at"`   // pointers into the whole request
	Role   string          `json:"role"`
	CallID string          `json:"call_id"`
	Name   string          `json:"name"`
	Text   string          `json:"text"` // how it begins: of a call its result
}

// Decisive is a part of the smallest request.
type Decisive struct {
	Unit
	Required bool   `json:"required"` // only since the API wants it: a conversation begins with a user
	Lines    []Line `json:"lines"`    // that are left of its long texts; empty if these are whole
}

// Line is a line of a text, or a piece of a long one.
type Line struct {
	At   string `json:"at"` // pointer of the text in the whole request
	N    int    `json:"n"`  // from 1
	Of   int    `json:"of"`
	Text string `json:"text"`
}

// result returns what was found.
func (w *minimising) result(again *Tried) *Smallest {
	s := &Smallest{Exchange: w.Request.Origin.ID, LookedAt: w.Predicate.Name, Samples: w.Samples, AtLeast: w.AtLeast, Take: w.bestTake, Group: w.Group,
		Decisive: []Decisive{}, LeftOut: []Unit{}, Least: w.least, Stopped: w.stopped, Candidates: w.list, Illegal: w.illegal, Requests: w.spent.takes,
		CostUSD: w.spent.cost(), LowerBound: w.spent.unknown, BytesWhole: len(w.parts.body), Edits: []transcript.Edit{}}
	if w.spent.told > 0 {
		s.Usage = &w.spent.usage
	}
	if again != nil {
		s.Again = &Answers{again.Yes, again.Asked}
	}
	req, whole, err := w.request(w.best)
	if err != nil {
		return s // it was built before
	}
	s.Body, s.Bytes, s.Edits = req.Body, len(req.Body), append(s.Edits, req.Edits...)
	if len(req.Edits) == 0 {
		s.Body, s.Bytes = w.parts.body, len(w.parts.body)
	}
	s.Items.Of, s.Lines.Of, s.Tools.Of = w.count(w.parts.all())
	s.Items.Kept, s.Lines.Kept, s.Tools.Kept = w.count(whole)
	s.Lines.Of = 0
	kept := w.parts.kept(whole)
	for i := range w.parts.texts {
		if t := &w.parts.texts[i]; kept[t.piece] {
			s.Lines.Of += len(t.lines)
		}
	}
	w.divide(s, whole)
	s.Verdict = w.verdict(s)
	return s
}

// divide returns which units are left and which are not; not of those of which none was
// tried to be left out.
func (w *minimising) divide(s *Smallest, whole *candidate) {
	tried := func(part Part) bool { return slices.Contains(w.Parts, part) }
	for u, stays := range whole.units {
		switch {
		case !stays:
			s.LeftOut = append(s.LeftOut, w.unit(u))
		case tried(Items) || tried(Lines):
			s.Decisive = append(s.Decisive, w.decisive(u, whole))
		}
	}
	for i, stays := range whole.tools {
		it := w.parts.tools[i].item
		tool := Unit{N: i + 1, Kind: it.Kind, At: []string{it.At}, Name: it.Name}
		switch {
		case !stays:
			s.LeftOut = append(s.LeftOut, tool)
		case tried(Tools):
			s.Decisive = append(s.Decisive, Decisive{Unit: tool, Required: !w.best.tools[i], Lines: []Line{}})
		}
	}
}

// mostText is how much of a text a report has.
const mostText = 400

func begins(text string) string {
	if len(text) <= mostText {
		return text
	}
	n := mostText
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}

// unit describes the items of one unit.
func (w *minimising) unit(n int) Unit {
	u := Unit{N: n + 1, At: []string{}}
	for _, i := range w.parts.units[n] {
		it := w.parts.pieces[i].item
		if len(u.At) == 0 {
			u.Kind, u.Role, u.CallID, u.Name = it.Kind, it.Role, it.CallID, it.Name
		}
		u.At = append(u.At, it.At)
		if it.Text != "" {
			u.Text = begins(it.Text)
		}
	}
	return u
}

func (w *minimising) decisive(n int, whole *candidate) Decisive {
	d := Decisive{Unit: w.unit(n), Required: !w.best.units[n], Lines: []Line{}}
	for _, i := range w.parts.units[n] {
		for k := range w.parts.texts {
			if t := &w.parts.texts[k]; t.piece == i {
				d.Lines = append(d.Lines, t.left(whole.lines[k])...)
			}
		}
	}
	return d
}

// left returns the lines that are left of a text, none if all are.
func (t *longText) left(kept []bool) (list []Line) {
	if countTrue(kept) == len(kept) {
		return nil
	}
	for i, line := range t.lines {
		if kept[i] {
			list = append(list, Line{At: t.at, N: i + 1, Of: len(t.lines), Text: begins(line)})
		}
	}
	return list
}

// Estimate returns what Run is likely to use, if there are two causes in each kind of
// parts: every candidate counted as large as the whole request. Without prices its
// cost is not known.
func (m *Minimiser) Estimate(prices *pricing.Table) (replay.Estimate, error) {
	w, err := m.start()
	if err != nil {
		return replay.Estimate{}, err
	}
	asked := 1
	for _, part := range w.Parts {
		if n := len(w.parts.all().flags(part)); n > 0 {
			asked += 2 + 4*bits.Len(uint(n))
		}
	}
	requests := asked*w.AtLeast + w.Samples
	if m.Requests > 0 {
		requests = min(requests, m.Requests)
	}
	e := m.Request.Estimate(prices)
	e.Requests, e.Input, e.Output = requests, e.Input*int64(requests), e.Output*int64(requests)
	if e.USD != nil {
		e.USD.Mul(e.USD, new(big.Rat).SetInt64(int64(requests)))
	}
	return e, nil
}
