package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake/formats"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

func newExport(a *app) *cobra.Command {
	var format, file string
	var chunks bool
	c := &cobra.Command{
		Use:   "export [REF…]",
		Short: "Write exchanges in another form",
		Long: `export writes exchanges to standard output or a file.

Formats:
  jsonl         one exchange a line, as show --json prints it; of a run all
                of its exchanges; all there are if nothing is named
  raw-request   the exact bytes of one request body, as they went over the wire
  raw-response  the exact bytes of one response body
  few-shot      the conversation as a messages array, to be put before a real
                question: for an exchange of the Messages API in its form, else
                in that of Chat Completions. System prompts and tool definitions
                stay out; what else is left out is told on standard error`,
		Example: `  inspect export --format jsonl > all.jsonl
  inspect export x12 --format raw-request | sha256sum
  inspect export x:last --format few-shot -o example.json`,
		RunE: func(c *cobra.Command, args []string) error {
			write, err := exporter(format, args, chunks)
			if err != nil {
				return err
			}
			db, err := a.open()
			if err != nil {
				return err
			}
			defer db.Close()
			return a.writeTo(file, func(w io.Writer) error { return write(c.Context(), a, db, w) })
		},
	}
	c.Flags().StringVar(&format, "format", "jsonl", "jsonl, raw-request, raw-response or few-shot")
	c.Flags().StringVarP(&file, "output", "o", "", "write to this file instead of standard output")
	c.Flags().BoolVar(&chunks, "chunks", false, "with jsonl: the arrival time of each piece of the answers")
	return c
}

type export func(ctx context.Context, a *app, db *store.DB, w io.Writer) error

func exporter(format string, refs []string, chunks bool) (export, error) {
	one := func(f func(context.Context, *app, *store.DB, *transcript.Exchange, io.Writer) error) (export, error) {
		if len(refs) != 1 {
			return nil, usageError{fmt.Errorf("--format %s takes one exchange, got %d", format, len(refs))}
		}
		return func(ctx context.Context, a *app, db *store.DB, w io.Writer) error {
			e, err := a.resolve(ctx, db, refs[0])
			if err != nil {
				return err
			}
			return f(ctx, a, db, e, w)
		}, nil
	}
	switch format {
	case "jsonl":
		return func(ctx context.Context, a *app, db *store.DB, w io.Writer) error {
			return a.exportJSONL(ctx, db, refs, chunks, w)
		}, nil
	case "raw-request":
		return one(func(ctx context.Context, _ *app, db *store.DB, e *transcript.Exchange, w io.Writer) error {
			return exportBody(ctx, db, e.Request, w)
		})
	case "raw-response":
		return one(func(ctx context.Context, _ *app, db *store.DB, e *transcript.Exchange, w io.Writer) error {
			return exportBody(ctx, db, e.Response, w)
		})
	case "few-shot":
		return one(exportFewShot)
	}
	return nil, usageError{fmt.Errorf("unknown format %q: jsonl, raw-request, raw-response or few-shot", format)}
}

func (a *app) exportJSONL(ctx context.Context, db *store.DB, refs []string, chunks bool, w io.Writer) error {
	enc := newJSON(w)
	table, err := a.prices()
	if err != nil {
		return err
	}
	write := func(e *transcript.Exchange) error {
		v, err := view.NewExchange(ctx, db, e)
		if err != nil {
			return err
		}
		v.Price(table)
		if chunks {
			v.AddChunks(e)
		}
		return enc.Encode(v)
	}
	x := &exportErrors{app: a}
	all := func(run string) error {
		for e, err := range db.Exchanges(ctx, transcript.Filter{Run: run, Oldest: true}) {
			what := ""
			if err == nil {
				what, err = view.Ref(e.N), write(e)
			}
			if err := x.take(what, err); err != nil {
				return err
			}
		}
		return nil
	}
	for _, ref := range refs {
		t, err := a.locate(ctx, db, ref)
		switch {
		case err == nil && t.Exchange == nil:
			err = all(t.Run.ID)
		case err == nil:
			err = write(t.Exchange)
		}
		if err := x.take(ref, err); err != nil {
			return err
		}
	}
	if len(refs) == 0 {
		if err := all(""); err != nil {
			return err
		}
	}
	return x.err()
}

// exportErrors are the exchanges that cannot be exported because they are
// damaged: each is told, and the export goes on.
type exportErrors struct {
	app   *app
	count int
}

// take gives an error that ends the export.
func (x *exportErrors) take(what string, err error) error {
	if !errors.Is(err, transcript.ErrDamaged) {
		return err
	}
	x.count++
	if what != "" {
		what += ": "
	}
	fmt.Fprintln(x.app.err, "inspect: left out: "+visible(oneLine(what+err.Error())))
	return nil
}

func (x *exportErrors) err() error {
	if x.count == 0 {
		return nil
	}
	fmt.Fprintf(x.app.err, "inspect: %d exchange%s could not be exported; \"inspect doctor\" tells what is wrong\n", x.count, plural(x.count))
	return errFindings
}

func exportBody(ctx context.Context, db *store.DB, m transcript.Message, w io.Writer) error {
	if m.Omitted != "" {
		return fmt.Errorf("the exact bytes were not stored, by choice (--omit %s)", m.Omitted)
	}
	if m.Bytes == 0 {
		return nil
	}
	body, err := db.Body(ctx, m.Body)
	if err != nil {
		return err
	}
	defer body.Close()
	_, err = io.Copy(w, body)
	return err
}

func exportFewShot(ctx context.Context, a *app, db *store.DB, e *transcript.Exchange, w io.Writer) error {
	if e.Outcome != transcript.OK || !e.Complete {
		return fmt.Errorf("%s is no example: its answer did not end well (%s)", view.Ref(e.N), e.Outcome)
	}
	t, err := view.NewTranscript(ctx, db, e)
	if err != nil {
		return err
	}
	items, unanswered := fewShotItems(t)
	out, left, err := formats.FewShot(e.Dialect, items)
	if err != nil {
		return err
	}
	if unanswered > 0 {
		left = append(left, fmt.Sprintf("calls without a result (%d)", unanswered))
	}
	for _, l := range left {
		fmt.Fprintln(a.err, "inspect: left out: "+l)
	}
	_, err = w.Write(append(out, '\n'))
	return err
}

// fewShotItems puts the results of each batch of calls behind it, so that the
// rounds stay as they were. A call without a result is left out, since a
// provider refuses it, and counted.
func fewShotItems(t *view.Transcript) (items []transcript.Item, unanswered int) {
	var results []transcript.Item
	left := 0 // calls of the batch that are still to come
	for i := range t.Entries {
		e := &t.Entries[i]
		if left == 0 {
			items, results = append(items, results...), nil
		}
		switch {
		case e.Item.Kind != transcript.ToolCall || e.Item.ServerSide:
			items, results = append(append(items, results...), e.Item), nil
			left = 0
			continue
		case left == 0:
			left = e.Batch
		}
		left--
		if e.Result == nil {
			unanswered++
			continue
		}
		items, results = append(items, e.Item), append(results, *e.Result)
	}
	return append(items, results...), unanswered
}

// writeTo gives write the named file, or standard output. A file is complete
// or not there.
func (a *app) writeTo(file string, write func(io.Writer) error) error {
	if file == "" {
		w := bufio.NewWriter(a.out)
		return errors.Join(write(w), w.Flush())
	}
	part := file + ".part"
	f, err := os.OpenFile(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("create output: %w", err)
	}
	w := bufio.NewWriter(f)
	err = write(w)
	leftOut := errors.Is(err, errFindings) // what is written is whole all the same
	if leftOut {
		err = nil
	}
	if err := errors.Join(err, w.Flush(), f.Close()); err != nil {
		os.Remove(part)
		return err
	}
	if err := os.Rename(part, file); err != nil || !leftOut {
		return err
	}
	return errFindings
}
