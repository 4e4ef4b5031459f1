package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

type lintOptions struct {
	list    bool
	ignore  []string
	file    string
	dialect string
}

func newLint(a *app) *cobra.Command {
	var o lintOptions
	c := &cobra.Command{
		Use:   "lint [REF]",
		Short: "Check a run or a request against its API's rules",
		Long: `lint reports what is wrong or odd in a run, an exchange or a request in a file:
where it is and what to do about it. It judges by the request and the answer alone,
never by the status, so it also finds what one provider accepts and another refuses.

An error is what a provider refuses, now or when it is sent back, or a call that
was cut off; a warning is what harms or costs. In a run each step is judged by
what is new in it.

Exit status: 0 nothing or only information, 1 errors or warnings, 2 wrong usage,
3 not found.`,
		Example: `  inspect lint                     the latest run
  inspect lint x12
  inspect lint r3 --ignore large_result,repeated_call
  inspect lint --file request.json --dialect messages
  inspect lint --list
  inspect lint --json r3 | jq '.[] | select(.severity=="error")'`,
		Args: arguments(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error { return a.lint(c.Context(), o, args) },
	}
	c.Flags().BoolVar(&o.list, "list", false, "explain all codes, with an example each")
	c.Flags().StringSliceVar(&o.ignore, "ignore", nil, "ignore findings with this code")
	c.Flags().StringVar(&o.file, "file", "", "check the request body in a file; - is standard input")
	c.Flags().StringVar(&o.dialect, "dialect", "", "API of the file: chat, responses or messages (default: detected)")
	return c
}

func (a *app) lint(ctx context.Context, o lintOptions, args []string) error {
	if o.list {
		return a.listCodes()
	}
	for _, code := range o.ignore {
		if !slices.ContainsFunc(lint.Codes(), func(c lint.Code) bool { return c.Name == code }) {
			return usageError{fmt.Errorf("no code %q; inspect lint --list names them all", code)}
		}
	}
	ref := "last"
	switch {
	case o.file != "" && len(args) > 0:
		return usageError{errors.New("give a reference or --file, not both")}
	case len(args) > 0:
		ref = args[0]
	}
	findings, refs, err := a.findings(ctx, o, ref)
	if err != nil {
		return err
	}
	return a.printFindings(lint.Without(findings, o.ignore), refs)
}

// findings judges the target of ref. refs names the exchanges.
func (a *app) findings(ctx context.Context, o lintOptions, ref string) (found []lint.Finding, refs func(string) string, err error) {
	if o.file != "" {
		found, err = a.lintFile(o)
		return found, func(string) string { return "" }, err
	}
	db, err := a.open()
	if err != nil {
		return nil, nil, err
	}
	defer db.Close()
	t, err := a.locate(ctx, db, ref)
	if err != nil {
		return nil, nil, err
	}
	if t.Exchange != nil {
		v, err := view.NewExchange(ctx, db, t.Exchange)
		if err != nil {
			return nil, nil, err
		}
		return v.Lint, func(string) string { return v.Ref() }, nil
	}
	return a.lintRun(ctx, db, t)
}

func (a *app) lintRun(ctx context.Context, db *store.DB, t *view.Target) ([]lint.Finding, func(string) string, error) {
	table, err := a.prices()
	if err != nil {
		return nil, nil, err
	}
	run, err := view.NewRun(ctx, db, t.Run, time.Now())
	if err != nil {
		return nil, nil, err
	}
	if err := run.Judge(ctx, db, view.InputCost(table)); err != nil {
		return nil, nil, err
	}
	found := run.Lint
	if t.Agent > 0 {
		found = slices.DeleteFunc(slices.Clone(found), func(f lint.Finding) bool { return run.AgentOf(f.Exchange) != run.Agents[t.Agent-1].ID })
	}
	return found, run.RefOf, nil
}

// maxRequest bounds a request from a file.
const maxRequest = 256 << 20

func (a *app) lintFile(o lintOptions) ([]lint.Finding, error) {
	in := a.in
	if o.file != "-" {
		f, err := os.Open(o.file)
		if errors.Is(err, os.ErrNotExist) {
			return nil, notFound(fmt.Sprintf("no file %q", o.file))
		}
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	body, err := io.ReadAll(io.LimitReader(in, maxRequest))
	if err != nil {
		return nil, err
	}
	d := transcript.Dialect(o.dialect)
	switch {
	case dialect.Known(d):
	case d != "":
		return nil, usageError{fmt.Errorf("--dialect %s: %s", o.dialect, dialect.Listed("or"))}
	default:
		if d = dialect.RecogniseRequest(body); d == transcript.Unknown {
			return nil, usageError{fmt.Errorf("%s is not a request of a known API; name it with --dialect %s", o.file, dialect.Listed("or"))}
		}
	}
	return view.LintRequest(d, body), nil
}

func (a *app) printFindings(found []lint.Finding, refs func(string) string) error {
	var err error
	switch {
	case a.json:
		err = a.printJSON(found)
	case a.terminal():
		err = a.showFindings(found, refs)
	default:
		t := a.table("severity", "code", "exchange", "at", "call_id", "message")
		for _, f := range found {
			t.row(string(f.Severity), f.Code, refs(f.Exchange), f.Body+" "+visible(f.At), visible(f.CallID), visible(f.Message))
		}
		err = t.print()
	}
	if err == nil && lint.Bad(found) {
		return errFindings
	}
	return err
}

// showFindings prints findings for people, each with its advice below.
func (a *app) showFindings(found []lint.Finding, refs func(string) string) error {
	p := a.printer(false)
	count := map[lint.Severity]int{}
	for _, f := range found {
		count[f.Severity]++
		style := map[lint.Severity]string{lint.Error: red, lint.Warning: yellow, lint.Info: dim}[f.Severity]
		at := refs(f.Exchange) + " " + f.Body + " " + f.At
		p.line("%s  %s  %s  %s", p.style(fmt.Sprintf("%-7s", f.Severity), style), p.style(f.Code, bold), word(at), p.style(word(f.CallID), dim))
		for _, line := range wrap(word(f.Message), p.room(9)) {
			p.line("         %s", line)
		}
	}
	if len(found) == 0 {
		p.line("nothing found")
		return p.failed
	}
	p.line("")
	p.line("%d error%s, %d warning%s, %d info", count[lint.Error], plural(count[lint.Error]), count[lint.Warning], plural(count[lint.Warning]), count[lint.Info])
	return p.failed
}

func (a *app) listCodes() error {
	if a.json {
		return a.printJSON(lint.Codes())
	}
	p := a.printer(false)
	for _, c := range lint.Codes() {
		p.line("%s  %s", p.style(c.Name, bold), c.Severity)
		for _, line := range wrap(c.Means, p.room(4)) {
			p.line("    %s", line)
		}
		for _, line := range wrap("e.g. "+c.Example, p.room(4)) {
			p.line("    %s", p.style(line, dim))
		}
	}
	return p.failed
}
