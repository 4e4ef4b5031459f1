package view

import (
	"context"
	"maps"
	"slices"

	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/transcript"
)

// Window shows, step by step, what fills the context windows of a run's agents.
type Window struct {
	Run   string       `json:"run"`
	Steps []WindowStep `json:"steps"`
}

// WindowStep is the content of one step's request.
type WindowStep struct {
	Step     string `json:"step"`
	Agent    string `json:"agent"`
	Exchange string `json:"exchange"`
	Bytes    int64  `json:"bytes"`
	Tokens   int64  `json:"tokens"`
	// Estimated reports that usage is missing: four bytes count as one token.
	Estimated bool   `json:"tokens_estimated"`
	Parts     []Part `json:"parts"` // largest first
}

// Part is one kind of content of a window. Its tokens are always an estimate: those
// of the request, divided by bytes.
type Part struct {
	Name   string `json:"name"` // "system", "tools", "user", "assistant", "reasoning", "calls", "other", or the tool of the results
	Result bool   `json:"result"`
	Items  int    `json:"items"`
	Bytes  int64  `json:"bytes"`
	Tokens int64  `json:"tokens"`
}

const bytesOfToken = 4

const windowText = 16 // bytes kept of a text, of which only the length matters

type partKey struct {
	name   string
	result bool
}

// filling adds up the content of a window.
type filling struct {
	parts map[partKey]*Part
	tools map[string]string // by call id
	bytes int64
}

func (f *filling) add(it *transcript.Item) {
	text, arguments, raw := sizes(it)
	key, bytes := partKey{name: "other"}, raw
	switch it.Kind {
	case transcript.System:
		key.name = "system"
	case transcript.ToolDefinition:
		key.name = "tools"
	case transcript.MessageItem:
		if key.name = it.Role; key.name != "assistant" {
			key.name = "user"
		}
	case transcript.Reasoning:
		key.name = "reasoning"
	case transcript.ToolCall:
		key.name, f.tools[it.CallID] = "calls", it.Name
		bytes = len(it.Name) + arguments
	case transcript.ToolResult:
		key = partKey{it.Name, true}
		if name := f.tools[it.CallID]; name != "" {
			key.name = name
		}
	}
	if text > 0 && len(it.Parts) == 0 && it.Kind != transcript.ToolDefinition {
		bytes = text
	}
	p := f.parts[key]
	if p == nil {
		p = &Part{Name: key.name, Result: key.result}
		f.parts[key] = p
	}
	p.Items++
	p.Bytes += int64(bytes)
	f.bytes += int64(bytes)
}

func (f *filling) step(s *Step, agent *Agent) WindowStep {
	w := WindowStep{Step: s.Ref, Agent: agent.Ref, Exchange: s.Exchange, Bytes: f.bytes, Tokens: f.bytes / bytesOfToken, Estimated: true, Parts: []Part{}}
	if u := s.exchange.Usage; u != nil && u.InputTotal > 0 {
		w.Tokens, w.Estimated = u.InputTotal, false
	}
	for _, p := range slices.SortedFunc(maps.Values(f.parts), func(a, b *Part) int {
		if a.Bytes != b.Bytes {
			return int(b.Bytes - a.Bytes)
		}
		return slices.Compare([]byte(a.Name), []byte(b.Name))
	}) {
		part := *p
		if f.bytes > 0 {
			part.Tokens = int64(float64(w.Tokens) * float64(p.Bytes) / float64(f.bytes))
		}
		w.Parts = append(w.Parts, part)
	}
	return w
}

// Window shows what fills the windows of the run's agents, including server-side
// history.
func (r *Run) Window(ctx context.Context, reader transcript.Reader) (*Window, error) {
	w, _, err := r.windows(ctx, reader, nil)
	return w, err
}

// WindowAndCache returns the results of Window and Cache from one pass.
func (r *Run) WindowAndCache(ctx context.Context, reader transcript.Reader, prices *pricing.Table) (*Window, *Cache, error) {
	return r.windows(ctx, reader, r.newCacheLook(ctx, reader, prices))
}

// keptCompared bounds the bytes of a request and the one before that are kept for
// comparison.
const keptCompared = 8 << 20

// windows fills the windows. look, if not nil, sees the same steps.
func (r *Run) windows(ctx context.Context, reader transcript.Reader, look *cacheLook) (*Window, *Cache, error) {
	requests := history.NewCuttingReader(ctx, reader, windowText, keptCompared)
	if look != nil {
		look.Reader = requests
	}
	a := acting{run: r, ctx: ctx, reader: reader, whole: true, requests: requests}
	w := &Window{Run: r.Ref(), Steps: []WindowStep{}}
	for _, agent := range r.Agents {
		var f *filling
		if look != nil {
			look.begin()
		}
		for scenes, err := range a.stretches(agent.Steps) {
			if err != nil {
				return nil, nil, err
			}
			for i := range scenes {
				s := &scenes[i]
				if f == nil || s.begins && !held(&s.step.exchange.Link) {
					f = &filling{parts: map[partKey]*Part{}, tools: map[string]string{}}
				}
				f.addAll(s.brought)
				w.Steps = append(w.Steps, f.step(s.step, agent))
				f.addAll(s.answered)
				if look == nil {
					continue
				}
				if err := look.add(s.step); err != nil {
					return nil, nil, err
				}
			}
		}
	}
	return w, look.done(), nil
}

func (f *filling) addAll(items []transcript.Item) {
	for i := range items {
		f.add(&items[i])
	}
}
