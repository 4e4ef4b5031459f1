// Command recorder is the recording proxy: an agent is pointed at it by its
// base URL, and every request and response is forwarded unchanged and kept.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake"
	"github.com/retake-debugger/retake/cmd/internal/usage"
)

// Exit statuses of recorder itself. "recorder run" exits as its command does, or as a
// shell does if the command cannot be started.
const (
	exitOK            = 0
	exitTrouble       = 1
	exitUsage         = 2
	exitNotExecutable = 126
	exitNoCommand     = 127
)

// memoryAim is the soft limit of Go's memory. It bounds garbage, not what can be in
// flight: under load most memory is garbage.
const memoryAim = 100 << 20

func main() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryAim)
	}
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr, os.Getenv))
}

// usageError is a mistake in the arguments.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

// commandError says why a command cannot be started. A shell would exit with status.
type commandError struct {
	error
	status int
}

// exitError ends recorder with the status of the command that it ran.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// run runs the program and returns its exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, getenv func(string) string) int {
	root := newRoot(stderr, getenv)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	var exit exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &exit):
		return int(exit)
	}
	fmt.Fprintln(stderr, "recorder: "+err.Error())
	var command commandError
	switch {
	case errors.As(err, new(usageError)):
		return exitUsage
	case errors.As(err, &command):
		return command.status
	}
	return exitTrouble
}

func newRoot(stderr io.Writer, getenv func(string) string) *cobra.Command {
	o := &options{stderr: stderr, getenv: getenv}
	root := &cobra.Command{
		Use:   "recorder",
		Short: "Record what an agent and a model say to each other",
		Long: `recorder is a proxy between an agent and a model provider. It forwards every
request and answer unchanged and at once, and keeps both in a database, byte for
byte. Point the agent at it by its base URL:

  OPENAI_BASE_URL=http://127.0.0.1:7777/v1
  ANTHROPIC_BASE_URL=http://127.0.0.1:7777

Without --upstream the well-known providers are there by name (/openai,
/anthropic, /gemini, /openrouter, /ollama …), and /v1/chat/completions,
/v1/responses and /v1/messages find theirs. One --upstream URL takes everything;
--upstream NAME=URL is reached below /NAME/. Only these hosts are ever called.

Secrets: credentials in headers and URLs are passed on and never stored. With
--redact, secrets in bodies (keys of known vendors, tokens, private keys, e-mail
addresses, what --redact-rules says) are passed on as they are and stored as
[redacted:openai:1a2b3c4d5e], the same for the same secret; the length and the
SHA-256 of what went over the wire are kept. Until bodies are stored, the spool beside
the database holds them as they were, and after that until its space is written over:
keep it where secrets may lie. The viewer shows exchanges in flight from there. What a
killed recorder left in its spool is redacted if the next one runs with --redact as
well.

Ctrl-C waits for what is in flight and leaves a clean database; a second one stops
at once. Read it with inspect, or in the viewer (--web).

Exit status: 0 stopped, 1 it cannot record, 2 wrong usage; of run that of the
command.`,
		Example: `  recorder
  recorder --upstream http://127.0.0.1:8000 --db run.db
  recorder --upstream local=http://127.0.0.1:8000 --upstream openai=https://api.openai.com
  recorder run -- python agent.py`,
		Args:          noArguments,
		Version:       retake.Version(),
		SilenceErrors: true, SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
		RunE:              func(c *cobra.Command, _ []string) error { return serve(c.Context(), o) },
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return usageError{usage.Flag(c, err)} })
	root.SetHelpCommand(usage.Help(func(err error) error { return usageError{err} }))
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	o.flags(root.PersistentFlags())
	root.AddCommand(newRun(o), newMock(o))
	return root
}

func noArguments(c *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case len(usage.Closest(args[0], []string{"run", "mock", "help"})) > 0:
		return usageError{usage.Command(c, args[0])}
	}
	return usageError{fmt.Errorf("no command %q; to record a program: recorder run -- %s", args[0], args[0])}
}
