package web

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/replay"
)

// Check judges an answer. The user who starts the program names the checks; a page
// can only choose among them.
type Check struct {
	Name  string
	Holds replay.Check
}

// looking is what a form asks answers to be checked for.
type looking struct {
	Kind   string // one of the constants below
	Tool   string // NAME or NAME=JSON
	Text   string // or a regular expression
	Check  string // or the name of a check
	Checks []Check
}

// The kinds of check.
const (
	lookNext  = "next"  // whether the answer does what the recorded one did
	lookTool  = "tool"  // whether it calls a tool
	lookText  = "text"  // whether its text matches
	lookCheck = "check" // whether a check says so
)

func (s *server) newLooking() looking {
	return looking{Kind: lookNext, Checks: s.replaying.Checks}
}

func (l *looking) read(c *gin.Context) {
	switch kind := c.PostForm("look"); kind {
	case lookTool, lookText, lookCheck:
		l.Kind = kind
	}
	l.Tool, l.Text, l.Check = strings.TrimSpace(c.PostForm("expect_tool")), c.PostForm("expect_text"), c.PostForm("check")
}

func (l *looking) expect() (x replay.Expect, err error) {
	switch l.Kind {
	case lookTool:
		if x.Tool = l.Tool; l.Tool == "" || l.Tool[0] == '=' {
			err = errors.New("the tool that is looked for has no name")
		}
	case lookText:
		if x.Text = l.Text; l.Text == "" {
			err = errors.New("the text that is looked for is empty")
		}
	case lookCheck:
		var check *Check
		if check, err = l.check(); err == nil {
			x.Check, x.CheckName = check.Holds, check.Name
		}
	}
	return x, err
}

// check returns the chosen check. Its definition is never shown, because a command
// may contain a secret.
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
