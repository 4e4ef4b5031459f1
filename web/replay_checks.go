package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
)

// Check judges an answer, as whoever started the program named it: a page can choose
// among them and name no other.
type Check struct {
	Name  string
	Holds replay.Check
}

// looking is what a form says is looked for in answers.
type looking struct {
	Kind   string // one of the constants below
	Tool   string // NAME or NAME=JSON
	Text   string // or a regular expression
	Check  string // or the name of a check
	Checks []Check
}

// What is looked at.
const (
	lookNext  = "next"  // whether the answer does what the recorded one did
	lookTool  = "tool"  // whether it calls a tool
	lookText  = "text"  // whether its text matches
	lookCheck = "check" // whether a check says so
)

func (s *server) newLooking() looking {
	return looking{Kind: lookNext, Checks: s.replaying.Checks}
}

// read takes the form's answers over.
func (l *looking) read(c *gin.Context) {
	switch kind := c.PostForm("look"); kind {
	case lookTool, lookText, lookCheck:
		l.Kind = kind
	}
	l.Tool, l.Text, l.Check = strings.TrimSpace(c.PostForm("expect_tool")), c.PostForm("expect_text"), c.PostForm("check")
}

// look gives what a sample looks at. recorded is the recorded answer.
func (l *looking) look(recorded *transcript.Turn) (replay.Look, error) {
	switch l.Kind {
	case lookTool:
		name, arguments, some := strings.Cut(l.Tool, "=")
		if name == "" {
			return replay.Look{}, errors.New("the tool that is looked for has no name")
		}
		var subset json.RawMessage
		if some {
			subset = json.RawMessage(arguments)
		}
		return replay.LookForTool(name, subset)
	case lookText:
		expr, err := l.expression()
		if err != nil {
			return replay.Look{}, err
		}
		return replay.LookForText(expr), nil
	case lookCheck:
		check, err := l.check()
		if err != nil {
			return replay.Look{}, err
		}
		return replay.LookByCheck(check.Name, check.Holds), nil
	}
	return replay.LookAtNext(recorded), nil
}

// lookOnce gives what is looked at where each take is one request.
func (l *looking) lookOnce(recorded *transcript.Turn) (replay.Look, error) {
	switch l.Kind {
	case lookNext:
		if recorded == nil || replay.Label(recorded) == replay.ByText {
			return replay.Look{}, errors.New("the recorded answer calls no tool: say what to look for")
		}
	case lookCheck:
		check, err := l.check()
		if err != nil {
			return replay.Look{}, err
		}
		return replay.LookAtAnswer(check.Name, check.Holds), nil
	}
	look, err := l.look(recorded)
	if l.Kind == lookText {
		look.Name = "the text of the answer matches " + l.Text
	}
	return look, err
}

func (l *looking) expression() (*regexp.Regexp, error) {
	if l.Text == "" {
		return nil, errors.New("the text that is looked for is empty")
	}
	expr, err := regexp.Compile(l.Text)
	if err != nil {
		return nil, fmt.Errorf("read the expression: %w", err)
	}
	return expr, nil
}

// check gives the check that was chosen. What it is made of is told nobody: a command
// may hold a secret.
func (l *looking) check() (*Check, error) {
	for i := range l.Checks {
		c := &l.Checks[i]
		if c.Name != l.Check {
			continue
		}
		return &Check{c.Name, func(ctx context.Context, text, take string) (bool, error) {
			yes, err := c.Holds(ctx, text, take)
			if err != nil && ctx.Err() == nil {
				err = fmt.Errorf("the check %s could not be run, or took too long", c.Name)
			}
			return yes, err
		}}, nil
	}
	return nil, errors.New("choose a check: those that this program was started with")
}

// suspect tells whether a text is likely to matter for what is looked for; nil if
// nothing can be said.
func (l *looking) suspect() func(string) bool {
	switch l.Kind {
	case lookTool:
		name, _, _ := strings.Cut(l.Tool, "=")
		return func(text string) bool { return strings.Contains(text, name) }
	case lookText:
		if expr, err := l.expression(); err == nil {
			return expr.MatchString
		}
	}
	return nil
}
