package replay

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

// Expect names what is looked for in answers, before anything is sent. At most one of
// Tool, Text and Check is set; with none it is what the recorded answer does.
type Expect struct {
	Tool      string // NAME, or NAME=JSON with a part of the arguments
	Text      string // a regular expression
	Check     Check
	CheckName string
}

// ErrExpectNothing means that the recorded answer does nothing that could be looked for.
var ErrExpectNothing = errors.New("the recorded answer calls no tool: name what to look for")

// ExpectError says what is wrong with what is looked for.
type ExpectError struct {
	What string // "tool" or "text"
	Err  error
}

func (e *ExpectError) Error() string {
	if e.What == "text" {
		return "read the expression: " + e.Err.Error()
	}
	return e.Err.Error()
}

// Unwrap returns the reason.
func (e *ExpectError) Unwrap() error { return e.Err }

// inTake returns what is looked at in a take that may be of many steps.
func (x *Expect) inTake(recorded *transcript.Turn) (Predicate, error) {
	switch {
	case x.Tool != "":
		name, arguments, some := strings.Cut(x.Tool, "=")
		var subset json.RawMessage
		if some {
			subset = json.RawMessage(arguments)
		}
		look, err := CallsTool(name, subset)
		if err != nil {
			return look, &ExpectError{"tool", err}
		}
		return look, nil
	case x.Text != "":
		expr, err := regexp.Compile(x.Text)
		if err != nil {
			return Predicate{}, &ExpectError{"text", err}
		}
		return TextMatches(expr), nil
	case x.Check != nil:
		return TextPasses(x.CheckName, x.Check), nil
	}
	return SameAsRecorded(recorded), nil
}

// inAnswer returns what is looked at in the answer to one request.
func (x *Expect) inAnswer(recorded *transcript.Turn) (Predicate, error) {
	if x.Check != nil {
		return AnswerPasses(x.CheckName, x.Check), nil
	}
	if x.Tool+x.Text == "" && (recorded == nil || Label(recorded) == ByText) {
		return Predicate{}, ErrExpectNothing
	}
	look, err := x.inTake(recorded)
	if x.Text != "" {
		look.Name = "the text of the answer matches " + x.Text
	}
	return look, err
}

// Suspect returns a function that reports whether a text is likely to matter for what is
// looked for; nil if nothing can be said.
func (x *Expect) Suspect() func(text string) bool {
	if name, _, _ := strings.Cut(x.Tool, "="); name != "" {
		return func(text string) bool { return strings.Contains(text, name) }
	}
	if expr, err := regexp.Compile(x.Text); err == nil && x.Text != "" {
		return expr.MatchString
	}
	return nil
}
