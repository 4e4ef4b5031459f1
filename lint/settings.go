package lint

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// settings are the system prompt and the tools of a request.
type settings struct {
	system   []*transcript.Item
	declared []*transcript.Item          // tools in order
	tools    map[string]*transcript.Item // by name
	open     bool                        // more tools may become available later
	choice   string                      // tool_choice
}

// settingsOf reads the settings of a request. What is known of the same tools is
// taken over from before, which may be nil.
func settingsOf(step *Step, before *settings) *settings {
	s := &settings{choice: string(step.Turn.Parameters["tool_choice"])}
	items := step.Turn.Input
	if step.New {
		items = step.Settings
	}
	begun, member := false, dialect.Of(step.Turn.Dialect).System
	for i := range items {
		it := &items[i]
		switch {
		case it.Kind == transcript.ToolDefinition:
			s.declared = append(s.declared, it)
		case it.Kind == transcript.System && (!begun || member != "" && strings.HasPrefix(it.At, "/"+member)):
			s.system = append(s.system, it)
		case it.Kind != transcript.System:
			begun = true
		}
	}
	if before != nil && sameTools(before.declared, s.declared) {
		s.declared, s.tools, s.open = before.declared, before.tools, before.open
		return s
	}
	s.tools = make(map[string]*transcript.Item, len(s.declared))
	for _, it := range s.declared {
		s.declare(it, it.Raw, it.Name)
	}
	return s
}

// declare adds a tool, or the tools of a namespace.
func (s *settings) declare(it *transcript.Item, raw []byte, name string) {
	kind := rawjson.String(rawjson.Get(raw, "type"))
	switch {
	case kind == "tool_search", kind == "additional_tools", kind == "mcp", strings.HasPrefix(kind, "tool_search_tool"), kind == "mcp_toolset":
		s.open = true
	case kind == "namespace":
		for _, tool := range rawjson.Indexed(rawjson.Get(raw, "tools")) {
			inner := &transcript.Item{Kind: it.Kind, Raw: tool, Name: rawjson.String(rawjson.Get(tool, "name"))}
			s.tools[inner.Name] = inner
		}
		return
	}
	if f := rawjson.Get(raw, "function"); name == "" || rawjson.IsObject(f) {
		if n := rawjson.String(rawjson.Get(f, "name")); n != "" {
			name = n
		}
	}
	s.tools[name] = it
}

func (s *settings) tool(name string) *transcript.Item { return s.tools[name] }

// changes reports changed settings, and how the answer was sent back.
func (w *walker) changes(before, now *line, isNew bool) {
	if w.step.Link.Side || w.step.Link.Agent != before.step.Link.Agent || w.held() && len(now.set.system) == 0 {
		return
	}
	w.systemChange(before, now)
	w.toolChange(before, now)
	if !w.held() {
		w.returned(before, isNew)
	}
}

func (w *walker) systemChange(before, now *line) {
	old, new := systemTexts(before.set), systemTexts(now.set)
	n := 0
	for n < len(old) && n < len(new) && old[n].Text == new[n].Text {
		n++
	}
	if n == len(old) && n == len(new) || w.api.SystemList != "" && len(old) == 0 {
		return
	}
	at := w.in("")
	if n < len(new) {
		at = w.in(new[n].At)
	}
	what := "was changed"
	switch {
	case len(new) == 0:
		what = "was left out"
	case n < len(old) && n < len(new):
		what = fmt.Sprintf("was changed at character %d of block %d", difference(old[n].Text, new[n].Text), n+1)
	}
	w.find("system_prompt_changed", Warning, at, "", "the system prompt of step %d %s: keep it unchanged, and put what changes into a message at the end", before.step.Link.Step, what)
}

// systemTexts leaves out blocks that a client writes for its provider: Claude Code's
// first block counts its requests.
func systemTexts(s *settings) []*transcript.Item {
	return slices.DeleteFunc(slices.Clone(s.system), func(it *transcript.Item) bool {
		return strings.HasPrefix(it.Text, "x-anthropic-billing-header:")
	})
}

func difference(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return characters(a, n)
}

func (w *walker) toolChange(before, now *line) {
	old, new := before.set, now.set
	if sameTools(old.declared, new.declared) {
		return
	}
	var said []string
	at := w.in("")
	for _, name := range slices.Sorted(maps.Keys(new.tools)) {
		it := new.tools[name]
		was := old.tools[name]
		switch {
		case was == nil:
			said = append(said, dialect.Quoted(name)+" was added")
		case !bytes.Equal(was.Raw, it.Raw) && transcript.HashJSON(was.Raw) != transcript.HashJSON(it.Raw):
			said = append(said, dialect.Quoted(name)+" was changed")
		default:
			continue
		}
		if at.at == "" {
			at = w.in(it.At)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(old.tools)) {
		if new.tools[name] == nil {
			said = append(said, dialect.Quoted(name)+" was removed")
		}
	}
	if len(said) == 0 {
		return
	}
	const most = 4
	if n := len(said); n > most {
		said = append(said[:most], fmt.Sprintf("%d more changes", n-most))
	}
	w.find("tools_changed", Warning, at, "", "the tools are not those of step %d (%s): declare all tools from the beginning", before.step.Link.Step, strings.Join(said, ", "))
}

func sameTools(a, b []*transcript.Item) bool {
	return slices.EqualFunc(a, b, func(x, y *transcript.Item) bool { return bytes.Equal(x.Raw, y.Raw) })
}
