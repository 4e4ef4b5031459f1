package lint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// arguments judges the arguments of a call that the client must run.
func (w *walker) arguments(it *transcript.Item, at spot) {
	if it.Kind != transcript.ToolCall || it.ServerSide {
		return
	}
	w.declared(it, at)
	pointer, form := w.api.Rules.Call(it.Raw)
	if form == dialect.FreeText {
		return
	}
	at = at.under(pointer)
	if at.body == "request" && w.badForm(it, form, pointer, at) { // the provider writes its own answers
		return
	}
	raw := it.ArgumentsRaw
	switch {
	case strings.TrimSpace(raw) == "":
		if form == dialect.JSONText {
			w.find("empty_arguments", Info, at, it.CallID, `the arguments are empty, which means {}: read them so, and send "{}" back`)
		}
	case it.Arguments == nil:
		w.broken(it, at)
	case !rawjson.IsObject([]byte(strings.TrimSpace(raw))):
		severity := Warning
		if form == dialect.AsObject {
			severity = Error
		}
		w.find("arguments_not_object", severity, at, it.CallID, "the arguments are %s, not an object: check the tool's schema", rawjson.Describe([]byte(strings.TrimSpace(raw))))
	default:
		if why := w.judge.schemas.mismatch(w.set.tool(it.Name), raw); why != "" {
			w.find("arguments_schema_mismatch", Warning, at, it.CallID, "the arguments do not fit the schema of %s: %s", dialect.Quoted(it.Name), why)
		}
	}
}

// badForm reports arguments that are written as another API writes them.
func (w *walker) badForm(it *transcript.Item, form dialect.Form, pointer string, at spot) bool {
	v := rawjson.Get(it.Raw, strings.Split(pointer[1:], "/")...)
	if form == dialect.AsObject {
		if rawjson.IsObject(v) || it.Arguments == nil {
			return false
		}
		is := "missing"
		if v != nil {
			is = rawjson.Describe(v)
		}
		w.find("arguments_not_object", Error, at, it.CallID, "the input of a tool_use is %s: send an object, {} if there are no arguments", is)
		return true
	}
	if rawjson.Present(v) && !rawjson.IsString(v) {
		w.find("arguments_not_string", Error, at, it.CallID, "the arguments are %s: encode them as a string that holds JSON", rawjson.Describe(v))
		return true
	}
	return false
}

// broken reports where arguments stop being JSON, and why if that is known.
func (w *walker) broken(it *transcript.Item, at spot) {
	offset, why := syntax(it.ArgumentsRaw)
	advice := "answer the call with an error, and do not send the broken text back"
	switch {
	case at.body == "request":
		advice = "providers refuse this: send {} or the arguments that were used"
	case w.cutByLimit() != "":
		why += ", truncated by the output limit"
		advice = "raise the limit, or ask for less at once"
	case !w.turn.Complete:
		why += ", the answer broke off"
	}
	f := w.find("invalid_json_arguments", Error, at, it.CallID, "the arguments of %s are not JSON at character %d (%s): %s", dialect.Quoted(it.Name), offset, why, advice)
	f.Offset = &offset
}

// syntax returns the character at which a text stops being one JSON value.
func syntax(s string) (offset int, why string) {
	d := json.NewDecoder(strings.NewReader(s))
	values, first := 0, 0
	for {
		var v json.RawMessage
		err := d.Decode(&v)
		if err == nil {
			if values++; values == 1 {
				first = int(d.InputOffset())
			}
			continue
		}
		if errors.Is(err, io.EOF) && values > 1 {
			return characters(s, first+len(s[first:])-len(strings.TrimLeft(s[first:], " \t\r\n"))), fmt.Sprintf("%d concatenated JSON values", values)
		}
		if errors.Is(err, io.ErrUnexpectedEOF) && values == 0 {
			return characters(s, len(s)), "unexpected end"
		}
		var bad *json.SyntaxError
		at := len(s)
		if values > 0 {
			at = first
		} else if errors.As(err, &bad) {
			at = int(bad.Offset) - 1
		}
		return characters(s, max(at, 0)), "syntax"
	}
}

// declared judges whether the request declares the tool of a call.
func (w *walker) declared(it *transcript.Item, at spot) {
	if builtIn := w.api.Rules.BuiltIn; builtIn != nil && builtIn(it.Raw) {
		return
	}
	noRequest := len(w.turn.Parameters) == 0 && len(w.turn.Input) == 0
	if len(w.set.tools) == 0 && w.step.Imported != "" && w.step.Imported != transcript.Exact {
		return // the program that logged it did not log its tools
	}
	if noRequest || it.Name == "" || w.set.open || w.held() && len(w.set.tools) == 0 || w.set.tool(it.Name) != nil {
		return
	}
	if at.body == "request" { // tools may have changed since
		if len(w.set.tools) > 0 {
			w.find("undeclared_tool", Info, at, it.CallID, "the history holds a call of %s, which the request does not declare", dialect.Quoted(it.Name))
		}
		return
	}
	w.find("undeclared_tool", Warning, at, it.CallID, "the model called %s, which the request does not declare: answer with an error that names the declared tools", dialect.Quoted(it.Name))
}
