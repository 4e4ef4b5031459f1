package web

import (
	"fmt"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// The sections of a transcript page.
const (
	setup  = "setup"   // system text and tools
	resent = "history" // sent again: the step before contains it
	fresh  = "new"     // first sent in this exchange
	answer = "answer"
)

// historyShown bounds how much of a resent history a page shows by default.
const historyShown = 120

// section is a stretch of blocks that belong together.
type section struct {
	Name   string
	ID     string // of the first of its name
	Blocks []block
}

// block is one line of a transcript: an item, or the calls of one batch with
// their results.
type block struct {
	Anchor  string
	Section string
	Item    *transcript.Item
	Label   string
	Text    value
	Blank   bool   // the text is white space
	Raw     string // address of the item's own JSON
	Details string // address of everything known about it
	Parts   int    // how much of it is not text
	Images  []picture
	Added   int64 // bytes that a client added to its user's words, left out here
	Pairs   []pair
	Found   []lint.Finding
	Example bool // a developer put it there
}

// trouble is one kind of problem, with its first place.
type trouble struct {
	Anchor string
	Count  int
	One    string
	Many   string
}

func (t trouble) String() string {
	if t.Count == 1 {
		return "1 " + t.One
	}
	return count(int64(t.Count)) + " " + t.Many
}

// blocks lays out the entries of a transcript, from the end backwards, so that the
// answer and the new entries get space on the page first.
type blocks struct {
	t        *view.Transcript
	ref      string
	sections []string
	numbers  []int // of each call in its batch, from 1
	budget   *budget
	answered map[transcript.Place]string // a call's place → anchor of its pair
	prefix   string                      // of the anchors
	open     bool                        // values are the subject of the page
}

// layOut returns the sections of a transcript, and how many entries of the resent
// history it left out.
func layOut(t *view.Transcript, all bool) ([]section, int) {
	t = setupFirst(t)
	b := blocks{
		t: t, ref: t.Exchange.Ref(), sections: sectionsOf(t), numbers: numbersOf(t),
		budget: newBudget(), answered: answeredIn(t),
	}
	skip := b.skipped(all)
	var list []block
	left := 0
	for i := len(t.Entries) - 1; i >= 0; {
		n := b.numbers[i]
		if skip[i] {
			left += n
		} else {
			list = append(list, b.block(i-n+1, n))
		}
		i -= n
	}
	slices.Reverse(list)
	return group(list), left
}

// setupFirst moves the system text that is separate from the messages before them.
// Its position in a body is up to the client.
func setupFirst(t *view.Transcript) *view.Transcript {
	first, rest := []view.Entry{}, []view.Entry{}
	for _, e := range t.Entries {
		if e.Item.Kind == transcript.System && e.Place.Exchange == t.Exchange.ID && !dialect.InHistory(e.Item.At) {
			first = append(first, e)
		} else {
			rest = append(rest, e)
		}
	}
	sorted := *t
	sorted.Entries = append(first, rest...)
	return &sorted
}

func group(list []block) []section {
	var out []section
	seen := map[string]bool{}
	for _, b := range list {
		if len(out) == 0 || out[len(out)-1].Name != b.Section {
			s := section{Name: b.Section}
			if !seen[s.Name] {
				s.ID, seen[s.Name] = s.Name, true
			}
			out = append(out, s)
		}
		last := &out[len(out)-1]
		last.Blocks = append(last.Blocks, b)
	}
	return out
}

// sectionsOf returns the section of each entry. Reasoning is in no chain, so it
// gets the section of what follows it.
func sectionsOf(t *view.Transcript) []string {
	out := make([]string, len(t.Entries))
	next := fresh
	for i := len(out) - 1; i >= 0; i-- {
		e := &t.Entries[i]
		switch {
		case e.Output:
			out[i] = answer
			continue
		case !e.Item.InChain():
		case e.New || e.ResultNew:
			next = fresh
		default:
			next = resent
		}
		out[i] = next
	}
	for i := 0; i < len(out) && t.Entries[i].Item.Kind == transcript.System; i++ {
		out[i] = setup
	}
	return out
}

// numbersOf numbers the calls of each batch; anything else is number 1. A page is
// laid out from the end, so the number of the last call is the size of the batch.
func numbersOf(t *view.Transcript) []int {
	out := make([]int, len(t.Entries))
	for i := range out {
		out[i] = 1
		if i == 0 || t.Entries[i].Batch < 2 || t.Entries[i].Batch != t.Entries[i-1].Batch {
			continue
		}
		if n := out[i-1]; n < t.Entries[i].Batch {
			out[i] = n + 1
		}
	}
	return out
}

// skipped picks the entries of a long history that are left out: the oldest.
func (b *blocks) skipped(all bool) map[int]bool {
	skip := map[int]bool{}
	kept := 0
	for i := len(b.sections) - 1; i >= 0 && !all; {
		n := b.numbers[i]
		if b.sections[i] == resent {
			if kept >= historyShown {
				skip[i] = true
			}
			kept += n
		}
		i -= n
	}
	return skip
}

func answeredIn(t *view.Transcript) map[transcript.Place]string {
	out := map[transcript.Place]string{}
	for i := range t.Entries {
		e := &t.Entries[i]
		if e.Item.Kind == transcript.ToolCall && e.Pair != nil && e.Pair.Call != nil {
			out[*e.Pair.Call] = anchor(i)
		}
	}
	return out
}

func anchor(i int) string { return fmt.Sprintf("e%d", i) }

func (b *blocks) block(from, n int) block {
	e := &b.t.Entries[from]
	out := block{Anchor: b.prefix + anchor(from), Section: b.sections[from], Item: &e.Item, Label: labelOf(&e.Item), Example: e.Example}
	if e.Item.Kind == transcript.ToolCall || e.Item.Kind == transcript.ToolResult {
		for i := from; i < from+n; i++ {
			if b.sections[i] == fresh {
				out.Section = fresh
			}
			out.Pairs = append(out.Pairs, b.pair(i))
		}
		return out
	}
	out.Raw, out.Details, out.Parts, out.Images = itemURL(e.Place, "raw"), detailsURL(e.Place), len(e.Item.Parts), picturesOf(&e.Item, e.Place)
	out.Text = b.text(e, out.Section)
	out.Blank = e.Item.Text != "" && strings.TrimSpace(e.Item.Text) == ""
	out.Found = worth(e.Findings)
	return out
}

func (b *blocks) text(e *view.Entry, section string) value {
	text, part := e.Item.Text, "text"
	if text == "" && e.Item.Kind != transcript.MessageItem && e.Item.Kind != transcript.Reasoning && e.Item.Kind != transcript.System {
		text, part = string(e.Item.Raw), "raw"
	}
	whole := itemURL(e.Place, part)
	if part == "raw" {
		return b.budget.data(text, whole, closed)
	}
	how := moderate
	switch section {
	case answer, fresh:
		how = open
	case resent:
		how = closed
	}
	v := b.budget.words(text, whole, how)
	if !b.open && (e.Item.Kind == transcript.Reasoning || e.Item.Kind == transcript.System) {
		v.Preview = oneLine(text, 160)
		v.Folded = v.Preview != text
	}
	return v
}

func labelOf(it *transcript.Item) string {
	switch it.Kind {
	case transcript.MessageItem:
		if it.Role != "" {
			return it.Role
		}
	case transcript.System:
		if it.Role == "developer" {
			return it.Role
		}
	}
	return string(it.Kind)
}

// troubles sums up the problems among the blocks of a page.
func troubles(list []section) []trouble {
	kinds := []trouble{
		{One: "call without a result", Many: "calls without a result"},
		{One: "result without a call", Many: "results without a call"},
		{One: "doubled result", Many: "doubled results"},
		{One: "tool error", Many: "tool errors"},
	}
	states := map[string]int{stateUnanswered: 0, stateOrphan: 1, stateDuplicate: 2, stateError: 3}
	for _, p := range pairsOf(list) {
		i, ok := states[p.State]
		if !ok {
			continue
		}
		if kinds[i].Count == 0 {
			kinds[i].Anchor = p.Anchor
		}
		kinds[i].Count++
	}
	var out []trouble
	for _, k := range kinds {
		if k.Count > 0 {
			out = append(out, k)
		}
	}
	return out
}

func pairsOf(list []section) []pair {
	var out []pair
	for _, s := range list {
		for _, b := range s.Blocks {
			out = append(out, b.Pairs...)
		}
	}
	return out
}
