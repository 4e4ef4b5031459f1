package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake"
	"github.com/retake-debugger/retake/cmd/internal/usage"
	"github.com/retake-debugger/retake/files"
	"github.com/retake-debugger/retake/formats"
	"github.com/retake-debugger/retake/redact"
	"github.com/retake-debugger/retake/transcript"
)

// exportOptions are the flags of export.
type exportOptions struct {
	format, file, filter string
	chunks               bool
	maxTokens            int64
	maxResult            int
	as, api, steps       string
	system, words        bool
	redact               bool
	rules, vault         string
}

func formatNames() []string {
	var names []string
	for _, f := range files.Forms() {
		names = append(names, f.Name)
	}
	return names
}

func formatHelp() string {
	var out strings.Builder
	for _, f := range files.Forms() {
		fmt.Fprintf(&out, "  %-17s%s\n", f.Name, strings.ReplaceAll(f.Help, "\n", "\n"+strings.Repeat(" ", 19)))
	}
	return out.String()
}

func newExport(a *app) *cobra.Command {
	var o exportOptions
	c := &cobra.Command{
		Use:   "export [REF…]",
		Short: "Export runs and exchanges in another format",
		Long: `export writes recorded runs and exchanges to standard output or a file.

Formats:
` + formatHelp() + `
For a run, conversation formats export the last step of each agent and branch,
without replays; exchange formats export all exchanges. Without a reference, export
uses the latest run. --filter takes the filters of "inspect search" and exports only
matching exchanges, of the given runs or of all.

What a format cannot represent is listed on standard error. Unfinished conversations
are left out of training data and examples, and reported; HTML pages mark them.
Exported programs read the API key from the environment; no export contains it.`,
		Example: `  inspect export --format jsonl > all.jsonl
  inspect export x12 --format raw-request | sha256sum
  inspect export r12 --format html -o r12.html
  inspect export r12.4 --format few-shot --as python --steps 1-2
  inspect export --format openai-chat --filter 'model:gpt tool:bash' -o train.jsonl
  inspect export x12 --format curl | sh`,
		RunE: func(c *cobra.Command, args []string) error { return a.export(c.Context(), &o, args) },
	}
	f := c.Flags()
	f.StringVar(&o.format, "format", "jsonl", "one of the formats above")
	f.StringVarP(&o.file, "output", "o", "", "write to this file instead of standard output")
	f.StringVar(&o.filter, "filter", "", `only what matches, such as "model:opus is:error after:7d"`)
	f.BoolVar(&o.redact, "redact", false, "replace keys, tokens, private keys, passwords and e-mail addresses with placeholders")
	f.StringVar(&o.rules, "redact-rules", "", "like --redact, with your own rules: a file with lines NAME REGEXP and keep REGEXP")
	f.StringVar(&o.vault, "vault", "", "like --redact; save what the placeholders stand for in this file, for \"inspect unredact\"")
	f.Int64Var(&o.maxTokens, "max-tokens", 0, "shorten longer conversations: drop the oldest rounds, then cut results")
	f.IntVar(&o.maxResult, "max-result", 0, "cut tool results longer than this many bytes (default: 4000 for few-shot; 0: never)")
	f.BoolVar(&o.chunks, "chunks", false, "with jsonl: include the arrival time of each chunk of the answers")
	f.StringVar(&o.as, "as", "json", "with few-shot: json, python or markdown")
	f.StringVar(&o.api, "api", "", "with few-shot: write for chat or messages (default: as recorded, else chat)")
	f.StringVar(&o.steps, "steps", "", "with few-shot: only these answers, such as 1-3,5")
	f.BoolVar(&o.system, "system", false, "with few-shot: keep system prompts")
	f.BoolVar(&o.words, "words", false, "with few-shot: describe tool calls in words, for use without tools")
	c.PreRun = func(c *cobra.Command, _ []string) {
		if o.format == "few-shot" && !c.Flags().Changed("max-result") {
			o.maxResult = files.UsualResult
		}
	}
	return c
}

// exporting is one run of export.
type exporting struct {
	*app
	ctx    context.Context
	o      *exportOptions
	form   *files.Form
	reader transcript.Reader
	refs   []string
	errors exportErrors
	scrub  *redact.Scrubber // nil: nothing is redacted
}

func (a *app) export(ctx context.Context, o *exportOptions, refs []string) error {
	list := files.Forms()
	n := slices.IndexFunc(list, func(f files.Form) bool { return f.Name == o.format })
	if n < 0 {
		return usageError{usage.OneOf("--format", o.format, formatNames())}
	}
	if err := o.check(); err != nil {
		return usageError{err}
	}
	db, err := a.open()
	if err != nil {
		return err
	}
	defer db.Close()
	x := &exporting{app: a, ctx: ctx, o: o, form: &list[n], reader: db, refs: refs, errors: exportErrors{app: a}}
	if err := x.redacting(); err != nil {
		return err
	}
	out, err := x.export()
	if err != nil {
		return err
	}
	bar := a.progress()
	out.Progress = bar.show
	err = a.writeTo(o.file, func(w io.Writer) error {
		err := out.Write(ctx, x.form, w)
		bar.clear()
		if errors.Is(err, files.ErrSeveral) {
			err = usageError{err}
		}
		if err == nil {
			err = x.errors.err()
		}
		return err
	})
	for _, what := range out.Lost.List() {
		fmt.Fprintln(a.err, "inspect: left out: "+visible(oneLine(what)))
	}
	return errors.Join(err, x.tellRedacted())
}

// export prepares the export.
func (x *exporting) export() (*files.Export, error) {
	steps, err := files.ParseSteps(x.o.steps)
	if err != nil {
		return nil, usageError{err}
	}
	out := &files.Export{Reader: x.reader, Version: retake.Version(), Lines: newJSON, Left: x.errors.take,
		Note: func(text string) { fmt.Fprintln(x.err, "inspect: "+visible(text)) },
		Options: files.Options{Chunks: x.o.chunks, MaxTokens: x.o.maxTokens, MaxResult: x.o.maxResult, As: x.o.as, API: transcript.Dialect(x.o.api), Steps: steps,
			System: x.o.system, Words: x.o.words}}
	if x.form.Name == "jsonl" { // the only form with costs
		if out.Prices, err = x.prices(); err != nil {
			return nil, err
		}
	}
	if out.Passes, err = x.filter(); err != nil {
		return nil, err
	}
	out.Chosen, err = x.choose()
	return out, err
}

func (o *exportOptions) check() error {
	if o.maxTokens < 0 || o.maxResult < 0 {
		return errors.New("--max-tokens and --max-result must be 0 (no bound) or more")
	}
	if err := usage.OneOf("--as", o.as, []string{"json", "python", "markdown"}); err != nil {
		return err
	}
	if err := usage.OneOf("--api", o.api, formats.FewShotAPIs()); err != nil {
		return err
	}
	if _, err := files.ParseSteps(o.steps); err != nil {
		return fmt.Errorf("--steps %w", err)
	}
	return nil
}

// exportErrors are the exchanges that cannot be exported, because they are damaged
// or unfinished. Each is reported, and the export continues.
type exportErrors struct {
	app     *app
	written int
	refused int
	damaged int
}

// take returns an error that ends the export.
func (x *exportErrors) take(what string, err error) error {
	switch {
	case err == nil:
		x.written++
		return nil
	case errors.Is(err, transcript.ErrDamaged):
		x.damaged++
	case files.LeaveOut(err):
		x.refused++
	default:
		return err
	}
	if what != "" {
		what += ": "
	}
	fmt.Fprintln(x.app.err, "inspect: left out: "+visible(oneLine(what+err.Error())))
	return nil
}

func (x *exportErrors) err() error {
	if x.damaged > 0 {
		fmt.Fprintf(x.app.err, "inspect: %d exchange%s could not be exported; \"inspect doctor\" tells what is wrong\n", x.damaged, plural(x.damaged))
		return errFindings
	}
	if x.refused > 0 && x.written == 0 {
		return errFindings
	}
	return nil
}

// writeTo lets write write the named file, or standard output. A regular file is
// complete or does not exist; a device or a pipe is written to directly.
func (a *app) writeTo(file string, write func(io.Writer) error) error {
	if file == "" {
		w := bufio.NewWriter(a.out)
		return errors.Join(write(w), w.Flush())
	}
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
		return writeInto(file, write)
	}
	part := file + ".part"
	f, err := os.OpenFile(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("create output: %w", err)
	}
	w := bufio.NewWriter(f)
	err = write(w)
	leftOut := errors.Is(err, errFindings) // the written file is complete anyway
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

// writeInto writes to an existing file that is not regular.
func writeInto(file string, write func(io.Writer) error) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("open output: %w", err)
	}
	w := bufio.NewWriter(f)
	return errors.Join(write(w), w.Flush(), f.Close())
}
