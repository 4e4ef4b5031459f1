package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

func newRun(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "run [flags] -- COMMAND [ARG…]",
		Short: "Run a command with its model calls recorded",
		Long: `run starts COMMAND with the base-URL variables of the usual SDKs set to a
recorder of its own, on a free port unless --listen is given. What it records is
one run, named after the command. The exit status is that of COMMAND.

Clients:
  OPENAI_BASE_URL, OPENAI_API_BASE   OpenAI SDKs, Codex, most OpenAI-compatible clients
  ANTHROPIC_BASE_URL                 Anthropic SDKs, Claude Code
  GOOGLE_GEMINI_BASE_URL             Gemini CLI, Google GenAI SDKs
  OLLAMA_HOST                        Ollama clients

Where one of these is set already, its value is what the recorder forwards to.
A client that takes its base URL from its own configuration only must be pointed
at the recorder there.`,
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
}

// runCommand starts a recorder, runs the command in front of it and stops.
func runCommand(ctx context.Context, o *options, args []string) error {
	path, err := exec.LookPath(args[0])
	if err != nil {
		return usageError{fmt.Errorf("find command: %w", err)}
	}
	base := baseURLs(o)
	s, err := start(ctx, o, label(args, time.Now()))
	if err != nil {
		return err
	}
	at := "http://" + s.proxyAt.Addr().String()
	if o.token != "" {
		at += "/_t/" + o.token
	}
	cmd := exec.Command(path, args[1:]...)
	cmd.Args[0] = args[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), environment(base, at)...)
	status, err := await(ctx, cmd)
	err = errors.Join(err, s.stop())
	s.report(args)
	if err != nil {
		return err
	}
	if status != 0 {
		return exitError(status)
	}
	return nil
}

// await runs the command to its end. An interrupt from the terminal reaches
// the command by itself, so it is only waited out here; a SIGTERM is passed on.
func await(ctx context.Context, cmd *exec.Cmd) (int, error) {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
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

// label names the run after its command and the moment, so that no two are
// one.
func label(args []string, at time.Time) string {
	name := filepath.Base(args[0]) + " " + strings.Join(args[1:], " ")
	if len(name) > 200 {
		name = strings.ToValidUTF8(name[:200], "") + "…"
	}
	return strings.TrimSpace(name) + " @ " + at.UTC().Format(time.RFC3339Nano)
}

// report says loudly when nothing was captured.
func (s *session) report(args []string) {
	n := s.workspace.Captured()
	command := strings.Join(args, " ")
	if n == 0 {
		fmt.Fprintf(s.options.stderr, "recorder: no model call was captured while %q ran. It may ignore OPENAI_BASE_URL; see \"recorder run --help\", section Clients.\n", command)
		return
	}
	fmt.Fprintf(s.options.stderr, "recorder: %d exchanges captured; read them with: inspect ls\n", n)
}
