package replay

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/transcript"
)

// Simulated is a Source: a model that plays the tools. It gets the definition of
// the tool, results that were recorded of it, and the arguments. What it is asked is
// a side call of the take.
type Simulated struct {
	Model    string
	Recorded *RecordedResults // for examples; nil for none

	loop *loop
}

// Covers implements Source: it plays every tool.
func (s *Simulated) Covers(*Call) bool { return true }

// Bounds of what the model is shown.
const (
	mostExamples  = 5
	mostOfExample = 4000 // bytes of arguments or a result
	mostSimulated = 4096 // tokens of an answer, where an API wants to be told
)

// Answer implements Source.
func (s *Simulated) Answer(ctx context.Context, c *Call) (*Result, error) {
	if s.loop == nil {
		return nil, nil
	}
	system, user := s.prompt(c)
	body, err := dialect.Ask(s.loop.req.Speaks(), s.Model, system, user, mostSimulated)
	if err != nil {
		return nil, err
	}
	t, id, err := s.loop.aside(ctx, body, s.Model)
	if err != nil {
		return nil, fmt.Errorf("simulate %s: %w", c.Name, err)
	}
	return &Result{Text: t.Text, Source: transcript.FromModel, From: id}, nil
}

func (s *Simulated) prompt(c *Call) (system, user string) {
	system = "You play a tool that an AI agent calls. Answer with exactly what the tool would return for the call: no explanation, no quotation marks or code fence around it, " +
		"nothing before or after it. Keep to the form of the examples, if there are any, and to what they say of the world. If the tool would fail, answer with its error message."
	var b strings.Builder
	fmt.Fprintf(&b, "Tool: %s\n", c.Name)
	if c.Tool != nil {
		fmt.Fprintf(&b, "Definition: %s\n", Shorten(string(c.Tool), mostOfExample))
	}
	for _, e := range s.examples(c) {
		fmt.Fprintf(&b, "\nArguments: %s\nResult:\n%s\n", Shorten(e.arguments, mostOfExample), Shorten(e.result, mostOfExample))
	}
	fmt.Fprintf(&b, "\nNow the call to answer.\nArguments: %s\nResult:\n", c.Input())
	return system, b.String()
}

// example is a result that was recorded.
type example struct{ arguments, result string }

// examples returns results of a tool: the latest before the take, and the first on the
// tape.
func (s *Simulated) examples(c *Call) []example {
	list := s.loop.examples[c.Name]
	if s.Recorded != nil {
		for _, t := range s.Recorded.of(c.recordedName()) {
			list = append(list, example{t.key.arguments, t.item.Text})
		}
	}
	return list[:min(len(list), mostExamples)]
}

// aside sends a side call of the take. What it used counts to the take.
func (l *loop) aside(ctx context.Context, body []byte, model string) (*transcript.Turn, string, error) {
	id, err := newID()
	if err != nil {
		return nil, "", err
	}
	l.take.Steps = append(l.take.Steps, transcript.TakeStep{Exchange: id})
	if err := keep(context.WithoutCancel(ctx), l.Store, l.take); err != nil {
		return nil, "", err
	}
	req := *l.req
	req.Body, req.Header = body, l.req.Header.Clone()
	req.Header.Del("Content-Encoding")
	resp, err := req.Send(l.WithID(ctx, id), l.Transport)
	if err != nil {
		return nil, "", err
	}
	t := req.turn(resp)
	t.Model = model
	l.spent.add(&req, t, l.Prices)
	switch {
	case t.Error != nil:
		return nil, "", fmt.Errorf("the model refused: %s", t.Error.Message)
	case !t.Complete:
		return nil, "", errors.New("the answer of the model broke off")
	case cutShort(t):
		return nil, "", fmt.Errorf("the answer of the model was cut short: %s", t.FinishReason)
	}
	return t, id, nil
}
