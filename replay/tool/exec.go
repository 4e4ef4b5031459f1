package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
)

// Exec runs a command for each call of one tool: arguments on its standard input,
// the result from its standard output. If it fails the result is an error, with what
// it said on standard error too.
type Exec struct {
	Name    string        // of the tool
	Command string        // for the shell
	Timeout time.Duration // 0: DefaultTimeout
}

// Covers implements replay.Source.
func (e *Exec) Covers(c *replay.Call) bool { return c.Is(e.Name) }

// waitAfter is how long pipes are read on that a killed command has left to others.
const waitAfter = time.Second

// Answer implements replay.Source.
func (e *Exec) Answer(ctx context.Context, c *replay.Call) (*replay.Result, error) {
	limit := timeout(e.Timeout)
	run, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(run, "sh", "-c", e.Command)
	var out, problems bounded
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(c.Input()), &out, &problems
	cmd.Env = append(cmd.Environ(), "RETAKE_TOOL="+e.Name, "RETAKE_CALL_ID="+c.CallID)
	cmd.WaitDelay = waitAfter
	group(cmd)
	err := cmd.Run()
	r := &replay.Result{Text: out.String(), Source: transcript.FromExec}
	var status *exec.ExitError
	switch {
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		return r, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case run.Err() != nil:
		r.Text += fmt.Sprintf("\n%s: stopped after %s", c.Name, limit)
	case errors.As(err, &status):
		r.Text += problems.String()
		if strings.TrimSpace(r.Text) == "" {
			r.Text = status.Error()
		}
	default:
		return nil, fmt.Errorf("run %q: %w", e.Command, err)
	}
	r.Text, r.IsError = strings.TrimPrefix(r.Text, "\n"), true
	return r, nil
}

func timeout(d time.Duration) time.Duration {
	if d <= 0 {
		return DefaultTimeout
	}
	return d
}

// bounded keeps the first MostOutput bytes written to it, and says where there were
// more.
type bounded struct {
	kept bytes.Buffer
	left int64
}

func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), MostOutput-b.kept.Len())
	b.kept.Write(p[:n])
	b.left += int64(len(p) - n)
	return len(p), nil
}

func (b *bounded) String() string {
	s := strings.ToValidUTF8(b.kept.String(), "\uFFFD")
	if b.left > 0 {
		s += fmt.Sprintf("\n[%d more bytes are left out]", b.left)
	}
	return s
}
