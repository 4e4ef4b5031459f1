package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// progress is a progress line on a terminal. Elsewhere it prints nothing.
type progress struct {
	out     io.Writer
	on      bool
	columns int
	shown   time.Time
}

// redraw is the minimum time between two updates.
const redraw = 100 * time.Millisecond

func (a *app) progress() *progress {
	f, ok := a.err.(*os.File)
	p := &progress{out: a.err, on: ok && term.IsTerminal(int(f.Fd())), columns: 80}
	if p.on {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 20 {
			p.columns = w
		}
	}
	return p
}

// show draws the line; a total of 0 is unknown.
func (p *progress) show(what string, done, total int64) {
	if now := time.Now(); !p.on || now.Sub(p.shown) < redraw {
		return
	} else {
		p.shown = now
	}
	line := fmt.Sprintf("%s %s", what, number(done))
	if total > 0 {
		done = min(done, total)
		const width = 24
		full := int(width * done / total)
		line = fmt.Sprintf("%s [%s%s] %3d %%  %s of %s", what, strings.Repeat("#", full), strings.Repeat("-", width-full),
			100*done/total, number(done), number(total))
	}
	fmt.Fprintf(p.out, "\r%s\x1b[K", cut(line, p.columns-1))
}

// clear removes the line.
func (p *progress) clear() {
	if p.on && !p.shown.IsZero() {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

// number formats a count for people.
func number(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
