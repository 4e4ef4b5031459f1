package main

import (
	"fmt"

	"github.com/retake-debugger/retake/lint"
)

// foundStyle is the colour of a finding.
func foundStyle(s lint.Severity) string {
	return map[lint.Severity]string{lint.Error: red, lint.Warning: yellow, lint.Info: dim}[s]
}

// foundLine formats a finding for a line next to its subject.
func foundLine(f *lint.Finding) string { return "▲ " + word(f.Code) + ": " + word(f.Message) }

// worth returns the findings that a transcript shows. Informational ones are only
// shown by --full and lint.
func (p *printer) worth(list []lint.Finding) []lint.Finding {
	var out []lint.Finding
	for _, f := range list {
		if p.full || f.Severity != lint.Info {
			out = append(out, f)
		}
	}
	return out
}

// foundCount formats the number of findings for the end of a heading; "" if none
// are worth showing.
func (p *printer) foundCount(list []lint.Finding) string {
	worth := p.worth(list)
	if len(worth) == 0 {
		return ""
	}
	style := yellow
	for _, f := range worth {
		if f.Severity == lint.Error {
			style = red
		}
	}
	return " · " + p.style(counted(len(worth), "finding"), style)
}

// found prints findings of an exchange.
func (p *printer) found(list []lint.Finding) {
	for _, f := range p.worth(list) {
		for i, line := range wrap(foundLine(&f), p.room(6)) {
			if i > 0 {
				line = "  " + line
			}
			p.line("    %s", p.style(line, foundStyle(f.Severity)))
		}
	}
}

// found prints findings at an item of a step.
func (s *stepPrinter) found(list []lint.Finding) {
	for _, f := range s.worth(list) {
		s.note(foundLine(&f), foundStyle(f.Severity))
		s.foundHere++
	}
}

// foundElsewhere prints how many findings are about parts that were not printed.
func (p *runPrinter) foundElsewhere() {
	if more := len(p.worth(p.judged())) - p.foundHere; more > 0 {
		p.line("")
		p.line("%s", p.style(fmt.Sprintf("▲ %s more; inspect lint %s lists all", counted(more, "finding"), p.run.Ref()), dim))
	}
}
