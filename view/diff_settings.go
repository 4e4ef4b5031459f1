package view

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/analysis"
	"github.com/retake-debugger/retake/transcript"
)

// noises counts ignored differences by kind.
type noises map[string]int

func (n noises) list() []Ignored {
	list := []Ignored{}
	for _, what := range slices.Sorted(maps.Keys(n)) {
		list = append(list, Ignored{what, n[what]})
	}
	return list
}

// between counts the ignored differences of two items that are equal or versions of
// each other.
func (n noises) between(a, b *transcript.Item) {
	if a.CallID != b.CallID && a.Kind == transcript.ToolCall {
		n["call ids"]++
	}
	if a.ArgumentsRaw != b.ArgumentsRaw && len(diffArguments(a, b)) == 0 {
		n["how arguments are written: white space, order of members"]++
	}
	if a.Text == b.Text {
		return
	}
	switch x, y := strings.Fields(a.Text), strings.Fields(b.Text); {
	case slices.Equal(x, y):
		n["white space around texts and in system prompts"]++
	case analysis.Normalise(a.Text) != a.Text && analysis.Normalise(strings.Join(x, " ")) == analysis.Normalise(strings.Join(y, " ")):
		n["timestamps and minted ids in results and system prompts (--exact compares them)"]++
	}
}

// diffTools compares tools by name: description and schema, without the wrapping of
// the API.
func diffTools(a, b []transcript.Item, oneAPI bool, noise noises) []ToolDiff {
	list := []ToolDiff{}
	inB := map[string]*transcript.Item{}
	for i := range b {
		inB[b[i].Name] = &b[i]
	}
	seen := map[string]bool{}
	for i := range a {
		was := &a[i]
		now := inB[was.Name]
		if seen[was.Name] {
			continue
		}
		seen[was.Name] = true
		if now == nil {
			list = append(list, ToolDiff{Name: was.Name, Fate: analysis.Removed})
			continue
		}
		values, ok := analysis.DiffJSON(toolOf(was), toolOf(now))
		if ok && len(values) > 0 {
			list = append(list, ToolDiff{was.Name, analysis.Changed, values})
		}
		if ok && len(values) == 0 && oneAPI && !bytes.Equal(was.Raw, now.Raw) {
			noise["how tools are written: white space, order, cache marks"]++
		}
	}
	for i := range b {
		if !seen[b[i].Name] {
			seen[b[i].Name] = true
			list = append(list, ToolDiff{Name: b[i].Name, Fate: analysis.Added})
		}
	}
	return list
}

// toolOf returns the definition of a tool in a form common to all APIs.
func toolOf(it *transcript.Item) []byte {
	type definition struct {
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters,omitempty"`
		InputSchema json.RawMessage `json:"input_schema,omitempty"`
	}
	var outer struct {
		definition
		Function *definition `json:"function"` // Chat Completions
	}
	if json.Unmarshal(it.Raw, &outer) != nil {
		return it.Raw
	}
	d := outer.definition
	if outer.Function != nil {
		d = *outer.Function
	}
	if d.Parameters == nil {
		d.Parameters, d.InputSchema = d.InputSchema, nil
	}
	if d.Parameters == nil && d.Description == "" && outer.Function == nil {
		return it.Raw // a provider's tool is defined by all its members
	}
	raw, err := json.Marshal(d)
	if err != nil {
		return it.Raw
	}
	return raw
}

// minted are parameters that clients generate for each run.
var minted = []string{"metadata", "client_metadata", "user", "safety_identifier", "prompt_cache_key", "previous_response_id", "conversation", "thread"}

// alsoCalled maps parameter names to their equivalents in other APIs.
var alsoCalled = map[string]string{"max_completion_tokens": "max_tokens", "max_output_tokens": "max_tokens", "stop_sequences": "stop"}

// diffParameters compares requests apart from history and tools.
func diffParameters(a, b map[string]json.RawMessage, oneAPI bool, noise noises) []analysis.Difference {
	list := []analysis.Difference{}
	x, y := parametersOf(a, oneAPI), parametersOf(b, oneAPI)
	names := slices.Collect(maps.Keys(x))
	for name := range y {
		if _, ok := x[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		was, now := x[name], y[name]
		if was != nil && now != nil {
			if values, ok := analysis.DiffJSON(was, now); ok && len(values) == 0 {
				continue
			}
		}
		if slices.Contains(minted, name) {
			noise["parameters that clients write anew: "+name]++
			continue
		}
		list = append(list, analysis.Difference{At: "/" + name, Was: was, Now: now})
	}
	return list
}

func parametersOf(all map[string]json.RawMessage, oneAPI bool) map[string]json.RawMessage {
	if oneAPI {
		return all
	}
	out := make(map[string]json.RawMessage, len(all))
	for name, value := range all {
		if other := alsoCalled[name]; other != "" {
			name = other
		}
		if name == "tool_choice" {
			value = toolChoice(value)
		}
		if name == "stream_options" { // only Chat needs it to report usage
			continue
		}
		out[name] = value
	}
	return out
}

// toolChoice converts tool_choice to one form: a word, or the name of the tool.
func toolChoice(raw json.RawMessage) json.RawMessage {
	var choice struct {
		Type, Name string
		Function   struct{ Name string }
	}
	if json.Unmarshal(raw, &choice) != nil {
		return raw
	}
	switch {
	case choice.Function.Name != "":
		return quoted([]byte("tool " + choice.Function.Name))
	case choice.Name != "":
		return quoted([]byte("tool " + choice.Name))
	case choice.Type == "any":
		return quoted([]byte("required"))
	case choice.Type == "auto", choice.Type == "none":
		return quoted([]byte(choice.Type))
	}
	return raw
}
