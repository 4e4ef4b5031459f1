package view

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/retake-debugger/retake/transcript"
)

// Tool sums up the calls of one tool in the newest runs that called it: how often
// it failed, how long it took, how large its results were, and whether they kept
// their shape.
type Tool struct {
	Name       string   `json:"name"`
	Runs       []string `json:"runs"` // references of the runs that were read, newest first
	More       bool     `json:"more"` // older runs called it too and were not read
	Calls      int      `json:"calls"`
	Errors     int      `json:"errors"`
	Unanswered int      `json:"unanswered"`
	P50        *float64 `json:"p50_ms"`
	P95        *float64 `json:"p95_ms"`
	Bytes50    *float64 `json:"result_bytes_p50"`
	Bytes95    *float64 `json:"result_bytes_p95"`
	BytesMax   int      `json:"result_bytes_max"`
	// Definitions is the number of different definitions in these runs; 0 if they
	// were not compared.
	Definitions int `json:"definitions,omitempty"`
	// Shapes are the forms of its results, the most frequent first. Results of
	// several forms are hard to parse for programs and models.
	Shapes   []Shape    `json:"shapes"`
	Examples []ToolCall `json:"examples"` // the newest ones, failures first
}

// Shape is a form of a tool's results.
type Shape struct {
	// Form is "text", "empty", a JSON scalar's type, or an object's or array's
	// members with their types, e.g. {ok: boolean, rows: [{id: number}]}.
	Form    string   `json:"form"`
	Count   int      `json:"count"`
	Errors  int      `json:"errors"` // of these
	Example ToolCall `json:"example"`
}

// ToolCall is a call in a run.
type ToolCall struct {
	Run  string `json:"run"`
	Call `json:"call"`
}

const examplesOfTool = 12

// NewTool reads the calls of a tool in the newest runs that called it, up to a
// limit. ErrNotFound if none did.
func NewTool(ctx context.Context, r transcript.Reader, name string, runs int, now time.Time) (*Tool, error) {
	list, err := r.Runs(ctx, transcript.RunFilter{Tool: name, Limit: runs + 1})
	if err != nil {
		return nil, err
	}
	t := &Tool{Name: name, Runs: []string{}, Shapes: []Shape{}, Examples: []ToolCall{}, More: len(list) > runs}
	g := toolGathering{tool: t, shapes: map[string]*Shape{}}
	for i := range list[:min(len(list), runs)] {
		run, err := NewRun(ctx, r, &list[i].Run, now)
		if err != nil && ignoreLost(err) == nil {
			continue
		}
		if err != nil {
			return nil, err
		}
		calls, err := run.Calls(ctx, r)
		if err != nil {
			return nil, err
		}
		g.take(run.Ref(), calls)
	}
	if t.Calls == 0 {
		return nil, transcript.ErrNotFound
	}
	g.finish()
	return t, nil
}

type toolGathering struct {
	tool             *Tool
	latencies, bytes []float64
	shapes           map[string]*Shape
	failed, worked   []ToolCall
}

func (g *toolGathering) take(run string, calls []Call) {
	found := false
	for i := range calls {
		c := &calls[i]
		if c.Name != g.tool.Name || !c.isOne() {
			continue
		}
		found = true
		g.call(ToolCall{run, *c})
	}
	if found {
		g.tool.Runs = append(g.tool.Runs, run)
	}
}

// isOne reports whether c is a call, and not only a result.
func (c *Call) isOne() bool {
	return c.State != transcript.OrphanResult && c.State != transcript.Duplicate
}

func (g *toolGathering) call(c ToolCall) {
	t := g.tool
	t.Calls++
	if c.LatencyMS != nil {
		g.latencies = append(g.latencies, *c.LatencyMS)
	}
	if c.IsError {
		t.Errors++
	}
	if c.Result == nil {
		if !c.ServerSide {
			t.Unanswered++
		}
		return
	}
	g.bytes = append(g.bytes, float64(c.ResultBytes))
	t.BytesMax = max(t.BytesMax, c.ResultBytes)
	form := formOf(*c.Result, c.Parts)
	s := of(g.shapes, form, func() *Shape { return &Shape{Form: form, Example: c} })
	s.Count++
	if c.IsError {
		s.Errors++
		g.failed = append(g.failed, c)
	} else {
		g.worked = append(g.worked, c)
	}
}

func (g *toolGathering) finish() {
	t := g.tool
	t.P50, t.P95 = percentile(g.latencies, 50), percentile(g.latencies, 95)
	t.Bytes50, t.Bytes95 = percentile(g.bytes, 50), percentile(g.bytes, 95)
	for _, s := range g.shapes {
		t.Shapes = append(t.Shapes, *s)
	}
	slices.SortFunc(t.Shapes, func(a, b Shape) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Form, b.Form)) })
	bad := g.failed[:min(len(g.failed), examplesOfTool/2)]
	t.Examples = append(append(t.Examples, bad...), g.worked[:min(len(g.worked), examplesOfTool-len(bad))]...)
}

const (
	formDepth   = 3  // levels of an object in a form
	formMembers = 12 // members of an object in a form
	formLargest = 1 << 20
)

// formOf returns the form of a result.
func formOf(text string, parts int) string {
	t := strings.TrimSpace(text)
	switch {
	case t == "" && parts > 0:
		return "not text"
	case t == "":
		return "empty"
	case len(t) > formLargest || t[0] != '{' && t[0] != '[':
		return "text"
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(t)))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil || dec.More() {
		return "text"
	}
	return formOfValue(v, formDepth)
}

func formOfValue(v any, depth int) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		if len(v) == 0 {
			return "[]"
		}
		if depth == 0 {
			return "[…]"
		}
		return "[" + formOfValue(v[0], depth-1) + "]"
	case map[string]any:
		if depth == 0 {
			return "{…}"
		}
		return formOfObject(v, depth)
	}
	return "number"
}

func formOfObject(v map[string]any, depth int) string {
	names := make([]string, 0, len(v))
	for name := range v {
		names = append(names, name)
	}
	slices.Sort(names)
	var members []string
	for i, name := range names {
		if i == formMembers {
			members = append(members, "…")
			break
		}
		members = append(members, transcript.Head(name, 60)+": "+formOfValue(v[name], depth-1))
	}
	return "{" + strings.Join(members, ", ") + "}"
}
