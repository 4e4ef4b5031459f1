package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/replay/minimise"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// minimised is the output of minimise --json.
type minimised struct {
	*minimise.Smallest
	Request json.RawMessage `json:"request"` // the body of the smallest one
}

// estimated describes the expected usage of the search.
func (x *minimising) estimated(e replay.Estimate) string {
	cost := "cost not known"
	if e.USD != nil {
		cost = "up to $" + pricing.Rounded(e.USD)
	}
	return fmt.Sprintf("estimated %s (at most %s), up to %s in, %s out, %s", counted(e.Requests, "request"), number(int64(x.f.requests)), number(e.Input), number(e.Output), cost)
}

// teller prints the progress of the search on standard error: the remaining work
// and, if it is no terminal, a line for each part that could be left out.
func (x *minimising) teller(bar *progress) func(minimise.Tried) {
	left := ""
	return func(t minimise.Tried) {
		what := strings.Join([]string{counted(t.Items, "item"), counted(t.Lines, "line"), counted(t.Tools, "tool")}, ", ")
		if t.Shows {
			left = what
		}
		if t.Shows && !x.json && !bar.on {
			fmt.Fprintf(x.err, "after %s: %s show it in %d of %d\n", counted(t.Requests, "request"), what, t.Yes, t.Asked)
		}
		bar.show("left: "+left, int64(t.Requests), int64(x.f.requests))
	}
}

// print prints the result. It returns errFindings if that is not the smallest
// request, or does not show the behaviour again.
func (x *minimising) print(found *minimise.Smallest) error {
	var err error
	if x.json {
		err = x.printJSON(minimised{found, found.Body})
	} else {
		err = x.printFound(found)
	}
	if err == nil && x.f.output != "" {
		err = x.writeTo(x.f.output, func(w io.Writer) error {
			_, err := w.Write(found.Body)
			return err
		})
	}
	if err == nil && (!found.Least || found.Again == nil || found.Again.Yes < found.AtLeast) {
		return errFindings
	}
	return err
}

func (x *minimising) printFound(found *minimise.Smallest) error {
	t := x.table("part", "at", "call", "what")
	t.narrow = []string{"call"}
	for i := range found.Decisive {
		d := &found.Decisive[i]
		kind := strings.ReplaceAll(string(d.Kind), "_", " ")
		switch {
		case d.Kind == transcript.ToolDefinition:
			kind = "tool"
		case d.Kind == transcript.MessageItem && d.Role != "":
			kind = d.Role
		}
		if d.Required {
			kind += " (required)"
		}
		what := word(d.Name)
		if len(d.Lines) == 0 && d.Text != "" {
			what = strings.TrimSpace(what + " " + word(d.Text))
		}
		t.row(kind, word(d.At[0]), word(d.CallID), what)
		for _, l := range d.Lines {
			t.row(fmt.Sprintf("line %d of %d", l.N, l.Of), word(l.At), "", word(l.Text))
		}
	}
	if err := t.print(); err != nil {
		return err
	}
	p := x.printer(false)
	p.line("")
	p.sentence("looked whether "+visible(found.LookedAt), "")
	p.sentence(visible(found.Verdict), bold)
	for _, s := range x.sentences(found) {
		p.sentence(s, "")
	}
	p.line("  %s", p.style(fmt.Sprintf("inspect show %s · inspect diff %s %s · inspect takes %s", found.Take, view.Ref(x.ready.Request.Origin.N), found.Take, view.Ref(x.ready.Request.Origin.N)), dim))
	return p.failed
}

// sentence prints a text that may be longer than a line.
func (p *printer) sentence(text, sgr string) {
	for _, line := range wrap(text, p.room(2)) {
		if line = strings.TrimRight(line, " "); sgr != "" {
			line = p.style(line, sgr)
		}
		p.line("  %s", line)
	}
}

// sentences describe how certain the result is and what it cost.
func (x *minimising) sentences(found *minimise.Smallest) (list []string) {
	for i := range found.Decisive {
		if found.Decisive[i].Required {
			list = append(list, "required parts are there because the API needs them; whether they matter was not tried")
			break
		}
	}
	if found.Stopped != "" {
		list = append(list, "the search ended early: "+visible(found.Stopped)+". The request may still be larger than needed")
	}
	again := fmt.Sprintf("the smallest request (%s of %s) was not asked again", size(found.Bytes), size(found.BytesWhole))
	if a := found.Again; a != nil {
		again = fmt.Sprintf("asked again, the smallest request (%s of %s) shows it in %d of %s", size(found.Bytes), size(found.BytesWhole), a.Yes, counted(a.Of, "answer"))
		if a.Yes < found.AtLeast {
			again += ": it was chance. Ask more often (--samples)"
		}
	}
	list = append(list, again)
	cost := ""
	if found.CostUSD != nil {
		cost = ", $" + roundedDollars(*found.CostUSD)
	}
	used := fmt.Sprintf("%s, %s%s", counted(len(found.Candidates), "candidate"), counted(found.Requests, "request"), cost)
	if found.Illegal > 0 {
		used += fmt.Sprintf("; %d more were not sent, because a provider would refuse them", found.Illegal)
	}
	refused := 0
	for i := range found.Candidates {
		if found.Candidates[i].Refused != "" {
			refused++
		}
	}
	if refused > 0 {
		used += fmt.Sprintf("; %d were refused", refused)
	}
	return append(list, used)
}
