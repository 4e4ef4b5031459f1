package usage_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake/cmd/internal/usage"
)

// program is one with a command that takes one or two arguments.
func program(out io.Writer) *cobra.Command {
	root := &cobra.Command{Use: "tool", SilenceErrors: true, SilenceUsage: true,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage.Command(c, args[0])
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error { return nil }}
	check := cobra.RangeArgs(1, 2)
	show := &cobra.Command{Use: "show REF [REF]", Short: "Show it", RunE: func(*cobra.Command, []string) error { return nil },
		Args: func(c *cobra.Command, args []string) error {
			if check(c, args) != nil {
				return usage.Arguments(c, args, check)
			}
			return nil
		}}
	show.Flags().Int("limit", 5, "how many")
	show.Flags().Bool("full", false, "all of it")
	root.AddCommand(show, &cobra.Command{Use: "shout", Run: func(*cobra.Command, []string) {}})
	root.SetHelpCommand(usage.Help(func(err error) error { return err }))
	root.SetFlagErrorFunc(usage.Flag)
	root.SetOut(out)
	root.SetErr(out)
	return root
}

func TestMistakes_AreToldInPlainSentences(t *testing.T) {
	for args, want := range map[string]string{
		"shwo":                `no command "shwo": did you mean show?; see "tool --help"`,
		"sho":                 `no command "sho": did you mean shout or show?; see "tool --help"`,
		"nothing":             `no command "nothing"; see "tool --help"`,
		"help shwo":           `no command "shwo": did you mean show?; see "tool --help"`,
		"help show it":        `no command "it"; see "tool show --help"`,
		"show --limti 3":      `no flag --limti: did you mean --limit?; see "tool show --help"`,
		"show --zzzzzzz":      `no flag --zzzzzzz; see "tool show --help"`,
		"show -z":             `no flag -z in -z; see "tool show --help"`,
		"show a --limit x":    `--limit "x": want a whole number; see "tool show --help"`,
		"show a --full=maybe": `--full "maybe": want true or false; see "tool show --help"`,
		"show a --limit":      `--limit needs a whole number after it; see "tool show --help"`,
		"show":                `missing argument: tool show REF [REF]; see "tool show --help"`,
		"show a b c":          `unexpected argument "c"; see "tool show --help"`,
		"show a b c d":        `unexpected arguments "c d"; see "tool show --help"`,
		"show a b":            "",
		"help show":           "",
		"help":                "",
	} {
		root := program(io.Discard)
		root.SetArgs(strings.Fields(args))
		got := ""
		if err := root.Execute(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("tool %s: %q, want %q", args, got, want)
		}
	}
}

func TestHelp_ExplainsACommand(t *testing.T) {
	var out bytes.Buffer
	root := program(&out)
	root.SetArgs([]string{"help", "show"})
	if err := root.Execute(); err != nil || !strings.Contains(out.String(), "tool show REF [REF]") || !strings.Contains(out.String(), "--help") {
		t.Errorf("%v, printed %q", err, out.String())
	}
}

func TestOneOf(t *testing.T) {
	known := []string{"step", "tool"}
	if err := usage.OneOf("--sort", "size", known); err == nil || err.Error() != `--sort "size": want one of step, tool` {
		t.Error(err)
	}
	for _, v := range []string{"", "tool"} {
		if err := usage.OneOf("--sort", v, known); err != nil {
			t.Error(err)
		}
	}
}
