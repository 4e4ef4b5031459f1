package tool

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// Check runs a command for the shell, with text on its standard input, and tells
// whether it ended with status 0. A command that cannot be run, or does not end in
// time, is an error. env are further variables, as NAME=VALUE.
func Check(ctx context.Context, command, text string, limit time.Duration, env ...string) (bool, error) {
	limit = timeout(limit)
	run, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(run, "sh", "-c", command)
	var problems bounded
	cmd.Stdin, cmd.Stderr = strings.NewReader(text), &problems
	cmd.Env = append(cmd.Environ(), env...)
	cmd.WaitDelay = waitAfter
	group(cmd)
	err := cmd.Run()
	var status *exec.ExitError
	switch {
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		return true, nil
	case run.Err() != nil && ctx.Err() == nil:
		return false, fmt.Errorf("run %q: it did not end in %s", command, limit)
	case errors.As(err, &status) && status.ExitCode() >= 0 && !notRun(status.ExitCode()):
		return false, nil
	}
	return false, fmt.Errorf("run %q: %w: %s", command, err, strings.TrimSpace(problems.String()))
}

// notRun reports whether a status is that of a shell that could not run a command.
func notRun(status int) bool { return status == 126 || status == 127 }
