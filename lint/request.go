package lint

import (
	"fmt"
	"strings"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// request judges what a request says beside its conversation, if the step before did
// not say the same.
func (w *walker) request() {
	if w.before == nil {
		w.wrongMember()
		w.maxTokens()
	}
	same := w.before != nil && sameTools(w.before.declared, w.set.declared)
	if !same {
		w.toolShapes()
	}
	if !same || w.before.choice != w.set.choice {
		w.toolChoice()
	}
}

func (w *walker) maxTokens() {
	name := w.api.Rules.MaxTokens
	if p := w.turn.Parameters; name != "" && len(p) > 0 && !rawjson.Present(p[name]) {
		w.find("missing_max_tokens", Error, w.in(""), "", "the request has no %s: set it", name)
	}
}

// wrongMember reports a conversation under the name that another API has for it.
func (w *walker) wrongMember() {
	name := w.api.Rules.Misnamed
	v := w.turn.Parameters[name]
	if name == "" || !rawjson.IsArray(v) && !(rawjson.IsString(v) && w.api.Rules.MisnamedText) {
		return
	}
	severity := Error
	if len(conversation(w.turn.Input)) > 0 {
		severity = Warning
	}
	w.find("wrong_request_member", severity, w.in("/"+name), "", "%s does not read %q: send the conversation as %q", w.turn.Dialect, name, w.api.History())
}

// toolShapes judges how tools are declared.
func (w *walker) toolShapes() {
	if w.api.Rules.ToolShape == nil {
		return
	}
	for _, it := range w.set.declared {
		if why := w.api.Rules.ToolShape(it.At, it.Raw); why != "" {
			w.find("wrong_tool_shape", Error, w.in(it.At), "", "%s", why)
		}
	}
}

// toolChoice judges tool_choice by its form and by the tools that are declared.
func (w *walker) toolChoice() {
	v := w.turn.Parameters["tool_choice"]
	if !rawjson.Present(v) || w.api.Rules.ToolChoice == nil {
		return
	}
	say := func(format string, args ...any) {
		w.find("wrong_tool_choice", Error, w.in("/tool_choice"), "", format, args...)
	}
	name, why := w.api.Rules.ToolChoice(v)
	if why != "" {
		say("%s", why)
		return
	}
	w.chosen(v, rawjson.String(rawjson.Get(v, "type")), name, say)
}

// chosen reports a choice of a tool that is not declared.
func (w *walker) chosen(v []byte, kind, name string, say func(string, ...any)) {
	if w.set.open || w.held() {
		return
	}
	none := len(w.set.declared) == 0
	forced := name != "" && oneOf(kind, "function", "tool", "custom")
	switch {
	case forced && w.set.tool(name) == nil:
		say("tool_choice names %s, which is not declared: declare it, or choose another", dialect.Quoted(name))
	case none && (oneOf(rawjson.String(v), "required", "any") || kind == "any"):
		say("tool_choice wants a call, and no tool is declared: declare tools, or leave out tool_choice")
	}
}

func oneOf(s string, all ...string) bool {
	for _, a := range all {
		if s == a {
			return true
		}
	}
	return false
}

// message judges an item that is neither call nor result nor reasoning.
func (w *walker) message(it *transcript.Item, at spot) {
	if at.body != "request" {
		return
	}
	raw := it.Raw
	if !rawjson.IsObject(raw) && !(w.api.Rules.TextItems && rawjson.IsString(raw)) {
		if strings.Count(at.at, "/") == 2 && !strings.HasPrefix(at.at, "/system") {
			w.find("invalid_message", Error, at, "", "this is %s, not a message: send {\"role\",\"content\"}", rawjson.Describe(raw))
		}
		return
	}
	if w.api.Layout == dialect.Blocks {
		if w.api.Rules.NoEmptyText && rawjson.String(rawjson.Get(raw, "type")) == "text" && strings.TrimSpace(it.Text) == "" {
			severity := Error
			if it.Text != "" { // white space before a tool_use has been accepted
				severity = Warning
			}
			w.find("empty_text", severity, at, "", "the text block is empty: leave it out")
		}
		return
	}
	content := rawjson.Get(raw, "content")
	for i, part := range rawjson.Indexed(content) {
		if why := w.unsupported(part); why != "" {
			w.find("unsupported_content", Error, at.under(fmt.Sprintf("/content/%d", i)), "", "%s", why)
		}
	}
}

// unsupported returns why a part of a message is not accepted.
func (w *walker) unsupported(part []byte) string {
	if w.api.Rules.Unsupported == nil {
		return ""
	}
	return w.api.Rules.Unsupported(w.turn.Model, part)
}
