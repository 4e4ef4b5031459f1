package web

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"

	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

const (
	toolsAbout = 24 // tools of a run in its panel
	takesAbout = 30 // replays
)

// aboutRun is the content of a run's panel while no item is chosen.
type aboutRun struct {
	Findings  []foundKind
	Tools     []toolSum
	Takes     []takeLine
	TakesLeft int // older ones
}

// foundKind is all findings of one code.
type foundKind struct {
	Severity lint.Severity
	Code     string
	Count    int
	At       string // the first one's exchange
	Href     string
	Message  string
	Each     []foundAt // all of them, on the page of findings
	More     int       // that the page leaves out
}

// foundAt is one finding.
type foundAt struct{ Ref, Href, Message string }

// toolSum sums up the calls of a tool.
type toolSum struct {
	Name          string
	Calls, Errors int
	Href          string
}

// takeLine is a replay that branches off the run.
type takeLine struct{ Ref, Href, Text string }

func newAboutRun(r *view.Run, onPage map[string]bool) aboutRun {
	a := aboutRun{Findings: foundKinds(r, onPage), Tools: toolSums(r)}
	a.Takes, a.TakesLeft = takeLines(r)
	return a
}

// foundKinds groups the findings of a run by their code, the worst first.
func foundKinds(r *view.Run, onPage map[string]bool) []foundKind {
	var list []foundKind
	at := map[string]int{}
	for _, f := range worth(r.Lint) {
		if i, ok := at[f.Code]; ok {
			list[i].Count++
			continue
		}
		at[f.Code] = len(list)
		ref := r.RefOf(f.Exchange)
		k := foundKind{Severity: f.Severity, Code: f.Code, Count: 1, At: ref, Message: f.Message, Href: findingURL(r, &f)}
		if onPage[f.Exchange] {
			k.Href = "#" + ref
		}
		list = append(list, k)
	}
	slices.SortStableFunc(list, func(a, b foundKind) int { return cmp.Compare(rank(a.Severity), rank(b.Severity)) })
	return list
}

func rank(s lint.Severity) int {
	if s == lint.Error {
		return 0
	}
	return 1
}

// toolSums adds up the calls of a run by tool, the most called first. Those of
// replays do not count.
func toolSums(r *view.Run) []toolSum {
	var list []toolSum
	at := map[string]int{}
	for i := range r.Pairs {
		p := &r.Pairs[i]
		if p.Name == "" || p.Call != nil && r.IsReplay(p.Call.Exchange) {
			continue
		}
		n, ok := at[p.Name]
		if !ok {
			n = len(list)
			at[p.Name] = n
			list = append(list, toolSum{Name: p.Name, Href: fmt.Sprintf("/r/%d/calls?%s", r.N, url.Values{"tool": {p.Name}}.Encode())})
		}
		list[n].Calls++
		if p.IsError || p.State == transcript.Unanswered && p.Result == nil && !r.IsWaiting(p) {
			list[n].Errors++
		}
	}
	slices.SortStableFunc(list, func(a, b toolSum) int { return b.Calls - a.Calls })
	return list[:min(len(list), toolsAbout)]
}

// takeLines lists the newest replays of a run, each once and in their order, and
// counts those left out.
func takeLines(r *view.Run) ([]takeLine, int) {
	var list []takeLine
	seen := map[string]bool{}
	for _, a := range r.Agents {
		for _, b := range a.Branches {
			if b.TakeRef == "" || seen[b.TakeRef] {
				continue
			}
			seen[b.TakeRef] = true
			list = append(list, takeLine{b.TakeRef, "/" + b.TakeRef, "of " + b.Take + ", " + steps(len(b.Steps))})
		}
	}
	slices.SortFunc(list, func(a, b takeLine) int {
		return cmp.Or(cmp.Compare(len(a.Ref), len(b.Ref)), cmp.Compare(a.Ref, b.Ref))
	})
	left := max(0, len(list)-takesAbout)
	return list[left:], left
}
