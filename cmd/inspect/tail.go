package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

func newTail(a *app) *cobra.Command {
	var last int
	var once, full bool
	c := &cobra.Command{
		Use:   "tail",
		Short: "Follow what is being recorded",
		Long: `tail prints each exchange as it is recorded: what is new in its request, what the
model answers while it does, and how it ended. It runs until it is interrupted.
Exchanges in progress are read from the recorder's spool and have no number yet.

With --json it prints one exchange per line, as "inspect ls --exchanges" does: one
with outcome in_progress when it begins, and one when it has ended.

Exit status: 0 fine, 2 wrong usage, 3 not found.`,
		Example: `  inspect tail
  inspect tail -n 5
  inspect tail --json | jq -r '.model'`,
		Args: arguments(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if last < 0 {
				return usageError{fmt.Errorf("-n is %d, must be 0 or more", last)}
			}
			return a.tail(c.Context(), last, once, full)
		},
	}
	c.Flags().IntVarP(&last, "lines", "n", 1, "start with this many of the exchanges already recorded")
	c.Flags().BoolVar(&once, "no-follow", false, "stop at the end of what is recorded")
	c.Flags().BoolVar(&full, "full", false, "print texts in full")
	return c
}

func (a *app) tail(ctx context.Context, last int, once, full bool) error {
	db, err := a.open()
	if err != nil {
		return err
	}
	defer db.Close()
	after, err := beforeLast(ctx, db, last)
	if err != nil {
		return err
	}
	t := &tailer{printer: a.printer(full), reader: db, live: map[string]*liveTail{}}
	defer t.endLine()
	return a.follow(ctx, once, func() error {
		var err error
		if after, err = t.since(ctx, after); err != nil {
			return err
		}
		return t.tellLive(ctx)
	})
}

// beforeLast returns the number of the exchange before the last n.
func beforeLast(ctx context.Context, r transcript.Reader, n int) (int64, error) {
	var numbers []int64
	for e, err := range r.Exchanges(ctx, transcript.Filter{Limit: n + 1}) {
		if err != nil && !errors.Is(err, transcript.ErrDamaged) {
			return 0, err
		}
		if err == nil {
			numbers = append(numbers, e.N)
		}
	}
	if len(numbers) <= n {
		return 0, nil
	}
	return numbers[n], nil
}

type tailer struct {
	*printer
	reader  transcript.Reader
	run     string // run of the last printed exchange
	live    map[string]*liveTail
	midLine string // the exchange whose line is unfinished
}

// since prints the exchanges after a number, and returns the last number.
func (t *tailer) since(ctx context.Context, after int64) (int64, error) {
	var list []*transcript.Exchange
	for e, err := range t.reader.Exchanges(ctx, transcript.Filter{After: after, Oldest: true}) {
		if err != nil && !errors.Is(err, transcript.ErrDamaged) {
			return after, err
		}
		if err == nil {
			list = append(list, e)
		}
	}
	for _, e := range list {
		if err := t.tell(ctx, e); err != nil {
			return after, err
		}
		after = e.N
	}
	return after, t.failed
}

func (t *tailer) tell(ctx context.Context, e *transcript.Exchange) error {
	if t.json {
		delete(t.live, e.ID)
		return t.jsonLine(view.NewRow(e))
	}
	v, err := view.NewTranscript(ctx, t.reader, e)
	if errors.Is(err, transcript.ErrDamaged) {
		t.line("%s  %s", view.Ref(e.N), t.style("cannot be read: the database is damaged there", red))
		return nil
	}
	if err != nil {
		return err
	}
	if l := t.live[e.ID]; l != nil {
		delete(t.live, e.ID)
		return t.ended(ctx, v, l)
	}
	t.endLine()
	if run := e.Link.Run; run != t.run {
		if err := t.heading(ctx, run); err != nil {
			return err
		}
	}
	row := &v.Exchange.Row
	facts := []string{word(model(row)), string(row.Dialect), t.outcome(row), duration(row.Timing.DurationMS)}
	t.line("%s  %s", t.style(row.Ref(), bold), join(append(facts, tokenFacts(row.Usage)...)))
	for i := range v.Entries {
		entry := &v.Entries[i]
		if entry.Item.Kind == transcript.System && e.Link.Parent != "" || !entry.New && !entry.ResultNew {
			continue
		}
		t.entry(entry)
		t.found(entry.Findings)
	}
	t.trouble(row)
	t.line("")
	return t.failed
}

// trouble prints why an exchange failed.
func (t *tailer) trouble(row *view.Row) {
	if row.Error != nil {
		t.line("  %s", t.style("✗ "+word(join([]string{row.Error.Type, row.Error.Code, row.Error.Message})), red))
	}
}

func model(row *view.Row) string {
	if row.ResponseModel != "" {
		return row.ResponseModel
	}
	return row.Model
}

// heading names the run that the next exchanges belong to.
func (t *tailer) heading(ctx context.Context, id string) error {
	t.run = id
	if id == "" {
		return nil
	}
	rows, err := view.Runs(ctx, t.reader, transcript.RunFilter{IDs: []string{id}}, time.Now())
	if err != nil || len(rows) == 0 {
		return err
	}
	t.rule(word(cut(rows[0].Ref()+" "+rows[0].Name, t.room(8))))
	return nil
}

func (t *tailer) entry(e *view.Entry) {
	it := &e.Item
	if it.Kind == transcript.ToolCall {
		args := it.ArgumentsRaw
		if args == "" {
			args = "{}"
		}
		t.line("  %s %s %s", t.style("▌ "+word(it.Name), cyan), t.style(shortID(it.CallID), dim), t.clip(args, len(word(it.Name))+20))
		if e.Result != nil && e.ResultNew {
			mark, style := "✓", green
			if e.Pair != nil && e.Pair.IsError {
				mark, style = "✗", red
			}
			t.line("  %s %s %s", t.style("▌", cyan), t.style(mark, style), t.clip(resultText(e.Result), 6))
		}
		return
	}
	label, style, _ := speaker(e)
	text := itemText(it)
	switch {
	case it.Kind == transcript.ToolResult:
		label, style, text = "result", dim, resultText(it)
	case it.Role == "user":
		if said := transcript.Said(text); said != "" {
			text = said
		}
	}
	t.line("  %s%s", t.style(padLabel(word(label)), style), t.clip(text, 2+labelWidth))
}

// clip puts a text on one line, in full with --full.
func (t *tailer) clip(text string, indent int) string {
	if t.full {
		return word(text)
	}
	return cut(word(transcript.Head(text, 4*t.columns)), t.room(indent))
}

// jsonLine writes a document on its own line.
func (a *app) jsonLine(v any) error { return newJSON(a.out).Encode(rawjson.Shallow(v)) }
