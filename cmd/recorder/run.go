package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake/recorder"
)

func newRun(o *options) *cobra.Command {
	run := &cobra.Command{
		Use:   "run [flags] -- COMMAND [ARG…]",
		Short: "Run a command with its model calls recorded",
		Long: `run starts COMMAND with the base-URL variables of the usual SDKs set to a
recorder of its own, on a free port unless --listen is given. What it records is
one run, named after the command. The exit status is that of COMMAND,
128 plus the signal that ended it, 126 if it cannot be executed, 127 if there is no
such command, 2 for wrong usage of run.

Clients:
  OPENAI_BASE_URL, OPENAI_API_BASE   OpenAI SDKs, Codex, most OpenAI-compatible clients
  ANTHROPIC_BASE_URL                 Anthropic SDKs, Claude Code
  GOOGLE_GEMINI_BASE_URL             Gemini CLI, Google GenAI SDKs
  OLLAMA_HOST                        Ollama clients

If one of these is set already, the recorder forwards to its value.
Without --listen the recorder takes a free port, and there is no viewer without
--web.
A client that reads its base URL only from its own configuration must be pointed at
the recorder there.`,
		Example: `  recorder run -- python agent.py
  recorder run --db bug.db -- claude -p "fix the failing test"
  recorder run --upstream http://127.0.0.1:8000 -- node agent.js`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{errors.New("no command: recorder run -- COMMAND [ARG…]")}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if !c.Flags().Changed("listen") {
				o.listen = "127.0.0.1:0"
			}
			if !c.Flags().Changed("web") {
				o.web = "off"
			}
			return runCommand(c.Context(), o, args)
		},
	}
	run.Flags().SetInterspersed(false) // flags after COMMAND are its own
	return run
}

// runCommand starts a recorder, runs the command and stops. An interrupt from the
// terminal reaches the command by itself; a SIGTERM is passed on.
func runCommand(ctx context.Context, o *options, args []string) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer stop()
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)

	path, err := find(args[0])
	if err != nil {
		return err
	}
	upstreams, err := o.runUpstreams()
	if err != nil {
		return err
	}
	s, err := start(o, upstreams, label(args, time.Now()))
	if err != nil {
		return err
	}
	if err := s.opened(ctx); err != nil {
		return errors.Join(err, s.stop())
	}
	cmd := exec.Command(path, args[1:]...)
	cmd.Args[0] = args[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), environment(upstreams, s.url(), o.getenv)...)
	status, err := await(ctx, cmd)
	if stopErr := s.stop(); stopErr != nil {
		s.log.Error("stop recorder", "error", stopErr)
	}
	s.report(args[0])
	switch {
	case err != nil:
		return err
	case status != 0:
		return exitError(status)
	}
	return nil
}

// find returns the path of a command.
func find(command string) (string, error) {
	path, err := exec.LookPath(command)
	switch {
	case err == nil:
		return path, nil
	case errors.Is(err, fs.ErrPermission), errors.Is(err, exec.ErrDot):
		return "", commandError{fmt.Errorf("%q cannot be executed: it is no program, or this user may not", command), exitNotExecutable}
	}
	return "", commandError{fmt.Errorf("no command %q; is it installed, and in $PATH?", command), exitNoCommand}
}

// runUpstreams returns the upstreams that flags name, else the well-known providers
// with the URLs that the environment has for them.
func (o *options) runUpstreams() ([]recorder.Upstream, error) {
	if len(o.upstreams) > 0 {
		return parseUpstreams(o.upstreams)
	}
	upstreams, unusable := given(o.getenv)
	for _, variable := range unusable {
		fmt.Fprintf(o.stderr, "recorder: the value of %s is not used: want http://HOST or https://HOST without user, query or fragment\n", variable)
	}
	return upstreams, nil
}

// await runs the command to its end and returns its exit status.
func await(ctx context.Context, cmd *exec.Cmd) (int, error) {
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("start command: %w", err)
	}
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-ctx.Done():
			cmd.Process.Signal(syscall.SIGTERM)
		case <-ended:
		}
	}()
	err := cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			return 128 + int(ws.Signal()), nil
		}
		return exit.ExitCode(), nil
	}
	return 0, err
}

// label names the run after the program, its script and the time, so that no two runs
// have the same label. Other arguments may hold secrets.
func label(args []string, at time.Time) string {
	name := filepath.Base(args[0])
	if len(args) > 1 && !strings.HasPrefix(args[1], "-") {
		if info, err := os.Stat(args[1]); err == nil && info.Mode().IsRegular() {
			name += " " + filepath.Base(args[1])
		}
	}
	return name + " @ " + at.UTC().Format(time.RFC3339Nano)
}

// report prints what was captured, and warns if that was no model call.
func (s *session) report(command string) {
	exchanges, calls := s.db.Captured()
	out := s.options.stderr
	if calls == 0 {
		fmt.Fprintf(out, "recorder: no model call was captured while %q ran. It may ignore OPENAI_BASE_URL; see \"recorder run --help\", section Clients.\n", command)
		if exchanges == 0 {
			return
		}
	}
	inspect := "inspect ls"
	if s.options.db != "" {
		inspect = "inspect --db " + s.options.db + " ls"
	}
	fmt.Fprintf(out, "recorder: %d exchange%s captured; read with: %s\n", exchanges, plural(exchanges), inspect)
}

func plural(n int64) string {
	if n == 1 {
		return ""
	}
	return "s"
}
