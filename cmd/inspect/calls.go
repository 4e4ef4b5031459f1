package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake/cmd/internal/usage"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

type callsOptions struct {
	view.CallFilter
	sort string
	csv  bool
}

func newCalls(a *app) *cobra.Command {
	var o callsOptions
	c := &cobra.Command{
		Use:   "calls [REF]",
		Short: "List the tool calls of a run with their results",
		Long: `calls is the table where debugging starts: every tool call of a run, including its
branches and sub-agents, or of the history of one exchange, with its arguments and
its result. Latency is the time from the end of the answer that made the call to
the request that returned the result.

State: ok, error (the result says so), unanswered, orphan (a result without a
call), duplicate (a second result for a call), provider (run by the provider),
sent (a request contains it, but no recorded answer made it), partial (the answer
that made it broke off). With --id and no reference all runs are searched.

A step's calls are those of its last attempt: ls, tree, show, stats and calls
count the same. Replays do not count; "inspect calls x12" lists those of one.

Exit status: 0 fine, 2 wrong usage, 3 not found.`,
		Example: `  inspect calls                      the latest run
  inspect calls r12 --errors
  inspect calls r12 --tool bash --sort latency
  inspect calls --id toolu_01Ab
  inspect calls r12 --csv > calls.csv
  inspect calls r12 --json | jq '.[] | select(.is_error) | .result'`,
		Args: arguments(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error { return a.calls(c.Context(), &o, args) },
	}
	f := c.Flags()
	f.StringVar(&o.sort, "sort", "step", "order: "+strings.Join(view.CallOrders, ", "))
	f.StringVar(&o.Tool, "tool", "", "only tools whose name contains this")
	f.StringVar(&o.ID, "id", "", "only calls whose id contains this")
	f.BoolVar(&o.Errors, "errors", false, "only failed calls, calls without a result, and results without a call")
	f.BoolVar(&o.csv, "csv", false, "print comma-separated values with full texts")
	return c
}

func (a *app) calls(ctx context.Context, o *callsOptions, args []string) error {
	if a.json && o.csv {
		return usageError{errors.New("give --json or --csv, not both")}
	}
	if err := usage.OneOf("--sort", o.sort, view.CallOrders); err != nil {
		return usageError{err}
	}
	db, err := a.open()
	if err != nil {
		return err
	}
	defer db.Close()
	list, err := a.callsOf(ctx, db, o, args)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(c view.Call) bool { return !o.Takes(&c) })
	if err := view.SortCalls(list, o.sort); err != nil {
		return err
	}
	switch {
	case a.json:
		return a.printJSON(list)
	case o.csv:
		return a.callsCSV(list)
	case len(list) == 0:
		return a.noCalls(o)
	}
	return a.printCalls(list)
}

// noCalls prints why a table of calls is empty.
func (a *app) noCalls(o *callsOptions) error {
	switch {
	case o.ID != "":
		fmt.Fprintf(a.err, "inspect: no call whose id contains %q\n", o.ID)
	case o.CallFilter != view.CallFilter{}:
		fmt.Fprintln(a.err, "inspect: no call fits the filter")
	default:
		fmt.Fprintln(a.err, "inspect: no tool calls")
	}
	return nil
}

// runsLookedAt bounds the listed runs with a call of some id.
const runsLookedAt = 20

func (a *app) callsOf(ctx context.Context, r transcript.Reader, o *callsOptions, args []string) ([]view.Call, error) {
	if len(args) == 0 && o.ID != "" {
		ids, err := view.RunsWithCall(ctx, r, o.ID, runsLookedAt)
		if err != nil {
			return nil, err
		}
		list := []view.Call{}
		for _, id := range ids {
			run, err := r.Run(ctx, id)
			if err != nil {
				return nil, err
			}
			of, err := runCalls(ctx, r, run)
			if err != nil {
				return nil, err
			}
			list = append(list, of...)
		}
		return list, nil
	}
	t, err := a.locate(ctx, r, first(args, "last"))
	if err != nil {
		return nil, err
	}
	if t.Run == nil {
		return view.ExchangeCalls(ctx, r, t.Exchange)
	}
	list, err := runCalls(ctx, r, t.Run)
	if err != nil || t.Agent == 0 && t.Step == 0 {
		return list, err
	}
	ref := refOf(t)
	return slices.DeleteFunc(list, func(c view.Call) bool { return c.Step != ref && (t.Step > 0 || c.Agent != ref) }), nil
}

// refOf formats the reference of an agent or a step as in the tables.
func refOf(t *view.Target) string {
	ref := view.RunRef(t.Run.N)
	if t.Agent > 1 || t.Agent == 1 && t.Step == 0 {
		ref += fmt.Sprintf("/a%d", t.Agent)
	}
	if t.Step > 0 {
		ref += fmt.Sprintf(".%d", t.Step)
	}
	return ref
}

// first returns the first argument, or the default.
func first(args []string, none string) string {
	if len(args) == 0 {
		return none
	}
	return args[0]
}

func runCalls(ctx context.Context, r transcript.Reader, run *transcript.Run) ([]view.Call, error) {
	v, err := view.NewRun(ctx, r, run, time.Now())
	if err != nil {
		return nil, err
	}
	return v.Calls(ctx, r)
}

var callColumns = []string{"step", "id", "tool", "arguments", "result", "bytes", "latency_ms", "state"}

func (a *app) printCalls(list []view.Call) error {
	p := a.printer(false)
	header := slices.Clone(callColumns)
	header[slices.Index(header, "latency_ms")] = "latency|latency_ms"
	t := a.table(header...)
	t.narrow = []string{"bytes", "latency", "id"}
	t.right = []string{"bytes", "latency"}
	for i := range list {
		c := &list[i]
		id, size, latency, state, style := word(c.CallID), strconv.Itoa(c.ResultBytes), a.took(c.LatencyMS), stateOf(c), ""
		if a.terminal() {
			id, size = shortID(c.CallID), sizeOf(c)
		}
		if c.Result == nil {
			size, latency = "", ""
		}
		if c.Bad() {
			style = red
		}
		t.row(c.Step, id, visible(c.Name), visible(transcript.Head(c.Arguments, textCut(a))), visible(transcript.Head(textOf(c), textCut(a))), size, latency, p.style(state, style))
	}
	if a.terminal() {
		t.dropEmpty("arguments", "result")
		t.share(a.width(), "arguments", "result")
	}
	return t.print()
}

// textCut bounds how much of a text is processed for a line of the terminal.
func textCut(a *app) int {
	if a.terminal() {
		return 600
	}
	return 1 << 30
}

func textOf(c *view.Call) string {
	switch {
	case c.Result == nil:
		return ""
	case *c.Result == "" && c.Parts > 0:
		return counted(c.Parts, "part") + ", no text"
	}
	return *c.Result
}

func sizeOf(c *view.Call) string { return size(c.ResultBytes) }

// stateOf describes the result of a call in one word.
func stateOf(c *view.Call) string {
	state := string(c.State)
	switch {
	case c.IsError:
		state = "error"
	case c.State == transcript.OrphanResult:
		state = "orphan"
	case c.State == transcript.Paired:
		state = "ok"
	case c.ServerSide:
		state = "provider"
	}
	if c.Sent {
		state += ", sent"
	}
	if c.Partial {
		state += ", partial"
	}
	return state
}

func (a *app) callsCSV(list []view.Call) error {
	w := csv.NewWriter(a.out)
	_ = w.Write(callColumns) // its errors come from Flush
	for i := range list {
		c := &list[i]
		latency, result := "", ""
		if c.LatencyMS != nil {
			latency = strconv.FormatFloat(*c.LatencyMS, 'f', -1, 64)
		}
		if c.Result != nil {
			result = *c.Result
		}
		_ = w.Write([]string{c.Step, c.CallID, c.Name, c.Arguments, result, strconv.Itoa(c.ResultBytes), latency, stateOf(c)})
	}
	w.Flush()
	return w.Error()
}

// share shortens two columns to the width that the others leave, the second one a
// little less.
func (t *table) share(width int, left, right string) {
	for _, name := range t.narrow {
		if width-t.fixed(left, right) >= 2*lastColumn {
			break
		}
		if column := slices.Index(t.header, name); column >= 0 {
			t.drop(column)
		}
	}
	t.narrow = nil
	room := max(width-t.fixed(left, right)-1, 2*8)
	l, r := slices.Index(t.header, left), slices.Index(t.header, right)
	widestLeft, widestRight := t.widest(l), t.widest(r)
	half := room * 45 / 100
	if widestRight < room-half {
		half = room - widestRight
	}
	if widestLeft < half {
		half = widestLeft
	}
	for _, row := range t.rows {
		row[l], row[r] = cut(row[l], half), cut(row[r], room-half)
	}
}

// fixed returns the width of all columns but two, including separators.
func (t *table) fixed(left, right string) int {
	used := 0
	for i, name := range t.header {
		if used += 2; name != left && name != right {
			used += t.widest(i)
		}
	}
	return used
}
