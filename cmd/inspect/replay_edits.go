package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
)

// editFlags are the flags that change a recorded request.
type editFlags struct {
	results  []string
	failures []string
	args     []string
	system   string
	models   []string
	params   []string
	tools    string
	sets     []string
	drops    []string
	inserts  []string
	patch    string
	editor   bool
	force    bool

	given func(flag string) bool
}

func addEditFlags(c *cobra.Command, f *editFlags) {
	s := c.Flags()
	s.StringArrayVar(&f.results, "set-result", nil, "CALL_ID=TEXT or CALL_ID=@FILE: set the text of that tool result (repeatable)")
	s.StringArrayVar(&f.failures, "set-error", nil, "CALL_ID=TEXT or CALL_ID=@FILE: set the text of that tool result, and mark it as an error (repeatable)")
	s.StringArrayVar(&f.args, "set-args", nil, "CALL_ID=JSON or CALL_ID=@FILE: set the arguments of that call in the history (repeatable)")
	s.StringVar(&f.system, "set-system", "", "TEXT or @FILE: set the system prompt")
	s.StringArrayVar(&f.models, "model", nil, "MODEL or MODEL@UPSTREAM: ask this model (repeatable: several are compared)")
	s.StringArrayVar(&f.params, "param", nil, "NAME=JSON: set a parameter of the request, such as temperature=0 (repeatable)")
	s.StringVar(&f.tools, "tools", "", "FILE with a JSON array: set the tools")
	s.StringArrayVar(&f.sets, "set", nil, "POINTER=JSON: set a value (repeatable)")
	s.StringArrayVar(&f.drops, "drop", nil, "POINTER: remove a value (repeatable)")
	s.StringArrayVar(&f.inserts, "insert", nil, "POINTER=JSON: insert a value before the element at that place, or at the end with /- (repeatable)")
	s.StringVar(&f.patch, "patch", "", "FILE with a JSON Patch (RFC 6902) to apply")
	s.BoolVar(&f.editor, "edit", false, "edit the request in $VISUAL or $EDITOR")
	s.BoolVar(&f.force, "force", false, "send it even if lint finds errors")
	f.given = s.Changed
}

// read returns the edits of the flags, except those made in an editor.
func (f *editFlags) read() ([]transcript.Edit, error) {
	edits, err := f.byPointer()
	if err != nil {
		return nil, err
	}
	named, err := f.byName()
	return append(edits, named...), err
}

// resultsOnly returns the edits for a resumed take, where only the results of open
// calls can be set.
func (f *editFlags) resultsOnly() ([]transcript.Edit, error) {
	edits, err := f.read()
	if err != nil {
		return nil, err
	}
	if f.editor || slices.ContainsFunc(edits, func(e transcript.Edit) bool { return e.Op != transcript.SetResult }) {
		return nil, usageError{errors.New("--resume continues what was sent: of the edits it takes only --set-result and --set-error")}
	}
	return edits, nil
}

// byPointer returns the edits with a JSON pointer.
func (f *editFlags) byPointer() ([]transcript.Edit, error) {
	var edits []transcript.Edit
	for _, at := range f.drops {
		edits = append(edits, transcript.Edit{Op: transcript.Drop, At: at})
	}
	for _, k := range []struct {
		flag, op string
		settings []string
	}{{"set", transcript.SetValue, f.sets}, {"insert", transcript.Insert, f.inserts}} {
		for _, s := range k.settings {
			at, value, err := assigned(k.flag, "POINTER=JSON", s)
			if err != nil {
				return nil, err
			}
			if !json.Valid([]byte(value)) {
				return nil, usageError{fmt.Errorf("--%s %s: the value is not JSON: a text needs its quotes", k.flag, at)}
			}
			edits = append(edits, transcript.Edit{Op: k.op, At: at, Value: json.RawMessage(value)})
		}
	}
	if f.patch == "" {
		return edits, nil
	}
	patch, err := jsonFile("patch", f.patch)
	return append(edits, transcript.Edit{Op: transcript.Patch, Value: patch}), err
}

// byName returns the edits of named settings.
func (f *editFlags) byName() ([]transcript.Edit, error) {
	var edits []transcript.Edit
	if len(f.models) == 1 { // several models are arms of a comparison
		model, _ := replay.ModelAt(f.models[0])
		edits = append(edits, transcript.Edit{Op: transcript.SetModel, Text: model})
	}
	for _, s := range f.params {
		name, value, err := assigned("param", "NAME=JSON", s)
		if err != nil {
			return nil, err
		}
		if !json.Valid([]byte(value)) {
			return nil, usageError{fmt.Errorf("--param %s: the value is not JSON: a text needs its quotes", name)}
		}
		edits = append(edits, transcript.Edit{Op: transcript.SetParam, Text: name, Value: json.RawMessage(value)})
	}
	if f.tools != "" {
		tools, err := jsonFile("tools", f.tools)
		if err != nil {
			return nil, err
		}
		edits = append(edits, transcript.Edit{Op: transcript.SetTools, Value: tools})
	}
	if f.given("set-system") {
		text, err := textOrFile("--set-system", f.system)
		if err != nil {
			return nil, err
		}
		edits = append(edits, transcript.Edit{Op: transcript.SetSystem, Text: text})
	}
	calls, err := f.ofCalls()
	return append(edits, calls...), err
}

// ofCalls returns the edits of calls and their results.
func (f *editFlags) ofCalls() ([]transcript.Edit, error) {
	var edits []transcript.Edit
	yes, no := true, false
	failed, succeeded := &yes, &no
	if len(f.failures) == 0 {
		succeeded = nil // unchanged
	}
	for _, k := range []struct {
		flag, op, form string
		settings       []string
		failed         *bool
	}{
		{"set-args", transcript.SetArgs, "CALL_ID=JSON or CALL_ID=@FILE", f.args, nil},
		{"set-result", transcript.SetResult, "CALL_ID=TEXT or CALL_ID=@FILE", f.results, succeeded},
		{"set-error", transcript.SetResult, "CALL_ID=TEXT or CALL_ID=@FILE", f.failures, failed},
	} {
		for _, s := range k.settings {
			id, text, err := assigned(k.flag, k.form, s)
			if err != nil {
				return nil, err
			}
			if text, err = textOrFile("--"+k.flag+" "+id, text); err != nil {
				return nil, err
			}
			e := transcript.Edit{Op: k.op, CallID: id, IsError: k.failed}
			if slices.ContainsFunc(edits, func(o transcript.Edit) bool { return o.CallID == id && o.Op == e.Op }) {
				return nil, usageError{fmt.Errorf("--%s %s: given twice", k.flag, id)}
			}
			if e.Op == transcript.SetResult {
				e.Text = text
			} else if e.Value = json.RawMessage(text); !json.Valid(e.Value) {
				return nil, usageError{fmt.Errorf("--set-args %s: the arguments are not JSON", id)}
			}
			edits = append(edits, e)
		}
	}
	return edits, nil
}

// assigned splits NAME=VALUE.
func assigned(flag, form, s string) (name, value string, err error) {
	name, value, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return "", "", usageError{fmt.Errorf("--%s %q: want %s", flag, s, form)}
	}
	return name, value, nil
}

// textOrFile reads the file of a value @FILE.
func textOrFile(flag, value string) (string, error) {
	file, ok := strings.CutPrefix(value, "@")
	if !ok {
		return value, nil
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return "", usageError{fmt.Errorf("%s: %w", flag, err)}
	}
	return string(content), nil
}

func jsonFile(flag, file string) (json.RawMessage, error) {
	content, err := os.ReadFile(strings.TrimPrefix(file, "@"))
	if err != nil {
		return nil, usageError{fmt.Errorf("--%s: %w", flag, err)}
	}
	if !json.Valid(content) {
		return nil, usageError{fmt.Errorf("--%s: %s is not JSON", flag, file)}
	}
	return content, nil
}

// refuse prints the lint errors of the edited request. It returns errFindings if
// they prevent sending.
func (f *editFlags) refuse(a *app, found []lint.Finding) error {
	for _, x := range found {
		fmt.Fprintf(a.err, "inspect: the edit causes an error, %s at %s: %s\n", x.Code, visible(x.At), visible(x.Message))
	}
	if len(found) == 0 || f.force {
		return nil
	}
	fmt.Fprintln(a.err, "inspect: nothing was sent; --force sends it anyway")
	return errFindings
}
