package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/retake-debugger/retake"
	"github.com/retake-debugger/retake/recorder/spool"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// capturesUnderWay returns the captures of this database's recorders. Unreadable
// ones are shown when they have ended.
func (a *app) capturesUnderWay() []*transcript.Capture {
	path, err := a.path()
	if err != nil {
		return nil
	}
	list, _ := spool.InFlight(retake.SpoolDir(path))
	return list
}

// underWay reads the exchanges in progress.
func (a *app) underWay(ctx context.Context, r transcript.Reader) ([]*view.Live, error) {
	var list []*view.Live
	for _, c := range a.capturesUnderWay() {
		v, err := view.NewLive(ctx, r, c, time.Now())
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// tellUnderWay prints a line about exchanges in progress, which a list of stored
// ones lacks.
func (a *app) tellUnderWay() {
	list := a.capturesUnderWay()
	if len(list) == 0 {
		return
	}
	longest := float64(time.Since(list[0].StartedAt).Milliseconds())
	fmt.Fprintf(a.err, "inspect: %s under way, the longest for %s; \"inspect tail\" follows\n", counted(len(list), "exchange")+" "+isAre(len(list)), duration(&longest))
}

// showUnderWay prints the exchanges in progress, after the stored ones.
func (a *app) showUnderWay(ctx context.Context, r transcript.Reader, o showOptions) error {
	list, err := a.underWay(ctx, r)
	if err != nil {
		return err
	}
	p := a.printer(o.full)
	for _, v := range list {
		p.rule(join([]string{"in progress", word(v.Model), string(v.Dialect), duration(v.Timing.DurationMS), v.RunRef}))
		for i := range v.Entries {
			if e := &v.Entries[i]; o.shows(e) {
				p.cutOff = true
				p.entry(e)
			}
		}
	}
	return p.failed
}

// liveTail is how much of an exchange in progress was printed.
type liveTail struct {
	sent, came int64  // bytes of its bodies at the last read
	item       int    // current item of its answer
	text       string // printed text of that item
}

// tellLive prints the new parts of the exchanges in progress.
func (t *tailer) tellLive(ctx context.Context) error {
	for _, c := range t.capturesUnderWay() {
		l := t.live[c.ID]
		if l != nil && l.sent == c.Request.Size() && l.came == c.Response.Size() {
			continue
		}
		v, err := view.NewLive(ctx, t.reader, c, time.Now())
		if err != nil {
			return err
		}
		if l == nil {
			l = &liveTail{}
			t.live[c.ID] = l
			if err := t.beginLive(ctx, v); err != nil {
				return err
			}
		}
		l.sent, l.came = c.Request.Size(), c.Response.Size()
		if !t.json {
			t.answers(v.ID, l, v.Entries)
		}
	}
	return t.failed
}

// beginLive prints the request of an exchange in progress.
func (t *tailer) beginLive(ctx context.Context, v *view.Live) error {
	if t.json {
		return t.jsonLine(&v.Row)
	}
	t.endLine()
	if v.Run != "" && v.Run != t.run {
		if err := t.heading(ctx, v.Run); err != nil {
			return err
		}
	}
	t.line("%s  %s", t.style("→", bold), join([]string{word(v.Model), string(v.Dialect), "in progress"}))
	for i := range v.Entries {
		if e := &v.Entries[i]; !e.Output && (e.Item.Kind != transcript.System || v.Parent == "") {
			t.entry(e)
		}
	}
	return t.failed
}

// answers continues the answer of an exchange.
func (t *tailer) answers(id string, l *liveTail, entries []view.Entry) {
	var said []*view.Entry
	for i := range entries {
		if entries[i].Output {
			said = append(said, &entries[i])
		}
	}
	for ; l.item < len(said); l.item, l.text = l.item+1, "" {
		e := said[l.item]
		text := e.Item.Text
		label, style, _ := speaker(e)
		if e.Item.Kind == transcript.ToolCall {
			label, style, text = "▌ "+word(e.Item.Name), cyan, e.Item.ArgumentsRaw
		}
		more, ok := strings.CutPrefix(text, l.text)
		if !ok {
			more = text
		}
		if more != "" {
			if t.midLine != id || l.text == "" || !ok {
				t.endLine()
				t.write("  " + t.style(padLabel(label), style))
				t.midLine = id
			}
			t.write(strings.ReplaceAll(visible(more), "\n", "\n"+strings.Repeat(" ", 2+labelWidth)))
			l.text = text
		}
		if l.item == len(said)-1 {
			return // it may continue
		}
	}
}

// write writes a part of a line.
func (t *tailer) write(s string) {
	if _, err := io.WriteString(t.output(), s); t.failed == nil {
		t.failed = err
	}
}

// endLine ends the line of an answer in progress.
func (t *tailer) endLine() {
	if t.midLine != "" {
		t.write("\n")
		t.midLine = ""
	}
}

// ended returns how an exchange ended that was printed while it was in progress.
func (t *tailer) ended(ctx context.Context, v *view.Transcript, l *liveTail) error {
	row := &v.Exchange.Row
	t.answers(row.ID, l, v.Entries)
	t.endLine()
	facts := []string{word(model(row)), string(row.Dialect), t.outcome(row), duration(row.Timing.DurationMS)}
	if row.Run != t.run {
		run, err := t.reader.Run(ctx, row.Run)
		if err != nil {
			return err
		}
		t.run, facts = row.Run, append([]string{view.RunRef(run.N)}, facts...)
	}
	t.line("%s  %s", t.style(row.Ref(), bold), join(append(facts, tokenFacts(row.Usage)...)))
	t.found(v.Findings)
	t.trouble(row)
	t.line("")
	return t.failed
}
