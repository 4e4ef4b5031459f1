package lint

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/transcript"
)

// answer judges how the answer arrived and ended.
func (w *walker) answer() {
	t := w.turn
	if t.Collisions > 0 {
		w.find("stream_index_collision", Warning, w.out(""), "", "%d tool calls of the stream claim the index of another one: go by their ids, not by the index", t.Collisions)
	}
	if t.NotJSON > 0 {
		w.find("non_json_sse_data", Info, w.out(""), "", "%d events of the stream hold data that are not JSON: pass over them", t.NotJSON)
	}
	if cut := w.cutByLimit(); cut != "" {
		severity, at, id := w.cutCall(false)
		w.find("output_truncated", severity, at, id, "the output was cut by its limit (%s): raise the limit, or ask for less at once", cut)
		return
	}
	if !t.Complete && len(t.Output) > 0 && t.Error == nil && w.step.Outcome != transcript.InProgress {
		severity, at, id := w.cutCall(true)
		w.find("answer_cut_off", severity, at, id, "the answer broke off before its end: do not run its last call, ask again")
	}
}

// cutByLimit returns what shows that the output was cut by its limit, "" if it was
// not. Some providers report tool_calls nevertheless: then the token count shows it,
// if a call is broken.
func (w *walker) cutByLimit() string {
	t := w.turn
	switch t.FinishReason {
	case "length", "max_tokens", "model_context_window_exceeded", "incomplete/max_output_tokens":
		return t.FinishReason
	}
	if t.Usage == nil || t.Usage.Output == 0 || !w.brokenCall() {
		return ""
	}
	for _, name := range [...]string{"max_completion_tokens", "max_tokens", "max_output_tokens"} {
		if limit, err := strconv.ParseInt(string(t.Parameters[name]), 10, 64); err == nil && t.Usage.Output >= limit {
			return fmt.Sprintf("%d output tokens of %s %d", t.Usage.Output, name, limit)
		}
	}
	return ""
}

func (w *walker) brokenCall() bool {
	return slices.ContainsFunc(w.turn.Output, func(it transcript.Item) bool { return w.isBroken(&it) })
}

func (w *walker) isBroken(it *transcript.Item) bool {
	if it.Kind != transcript.ToolCall || it.ServerSide || it.Arguments != nil {
		return false
	}
	_, form := w.api.Rules.Call(it.Raw)
	return form != dialect.FreeText
}

// cutCall finds the call that was cut, which makes the finding an error. last says
// that a call at the end counts as cut whatever its arguments are.
func (w *walker) cutCall(last bool) (Severity, spot, string) {
	for i := len(w.turn.Output) - 1; i >= 0; i-- {
		it := &w.turn.Output[i]
		if w.isBroken(it) {
			return Error, w.out(it.At), it.CallID
		}
	}
	if n := len(w.turn.Output); last && n > 0 {
		if it := &w.turn.Output[n-1]; it.Kind == transcript.ToolCall && !it.ServerSide {
			return Error, w.out(it.At), it.CallID
		}
	}
	return Warning, w.out(""), ""
}
