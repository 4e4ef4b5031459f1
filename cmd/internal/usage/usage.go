// Package usage explains mistakes in a command line: what was written, what is
// wanted, and what was probably meant. It does not know exit statuses; the commands
// choose those.
package usage

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// see points at the help of a command.
func see(c *cobra.Command) string { return fmt.Sprintf("; see %q", c.CommandPath()+" --help") }

// Closest returns the known words that a mistyped word may have meant.
func Closest(word string, known []string) []string {
	words := &cobra.Command{SuggestionsMinimumDistance: 2}
	for _, k := range known {
		words.AddCommand(&cobra.Command{Use: k, Run: func(*cobra.Command, []string) {}})
	}
	if word == "" {
		return nil
	}
	close := words.SuggestionsFor(word)
	if len(word) < 3 { // any short word is close to it
		close = slices.DeleteFunc(close, func(s string) bool { return !strings.HasPrefix(s, word) })
	}
	return close
}

// meant suggests the closest known words, each with a prefix.
func meant(word, before string, known []string) string {
	const most = 3
	close := Closest(word, known)
	if len(close) == 0 || len(close) > most {
		return ""
	}
	for i := range close {
		close[i] = before + close[i]
	}
	return ": did you mean " + strings.Join(close, " or ") + "?"
}

// Command returns the error for an unknown command.
func Command(parent *cobra.Command, word string) error {
	var known []string
	for _, c := range parent.Commands() {
		if c.IsAvailableCommand() {
			known = append(known, c.Name())
		}
	}
	return fmt.Errorf("no command %q%s%s", word, meant(word, "", known), see(parent))
}

// Arguments returns the error for a wrong number of arguments.
func Arguments(c *cobra.Command, args []string, check cobra.PositionalArgs) error {
	for n := len(args) - 1; n >= 0; n-- {
		if check(c, args[:n]) == nil {
			many := map[bool]string{true: "s"}[len(args)-n > 1]
			return fmt.Errorf("unexpected argument%s %q%s", many, strings.Join(args[n:], " "), see(c))
		}
	}
	use, _ := strings.CutSuffix(c.UseLine(), " [flags]")
	return fmt.Errorf("missing argument: %s%s", use, see(c))
}

// Flag returns the error for a flag that pflag refused.
func Flag(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var missing *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return fmt.Errorf("no flag -%s in -%s%s", unknown.GetSpecifiedName(), unknown.GetSpecifiedShortnames(), see(c))
	case errors.As(err, &unknown):
		return fmt.Errorf("no flag --%s%s%s", unknown.GetSpecifiedName(), meant(unknown.GetSpecifiedName(), "--", flags(c)), see(c))
	case errors.As(err, &missing):
		return fmt.Errorf("--%s needs %s after it%s", missing.GetFlag().Name, wanted(missing.GetFlag()), see(c))
	case errors.As(err, &invalid):
		return fmt.Errorf("--%s %q: want %s%s", invalid.GetFlag().Name, invalid.GetValue(), wanted(invalid.GetFlag()), see(c))
	}
	return fmt.Errorf("%w%s", err, see(c))
}

func flags(c *cobra.Command) (names []string) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return names
}

// wanted describes the value that a flag takes.
func wanted(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int", "int64":
		return "a whole number"
	case "uint", "uint64":
		return "a whole number, 0 or more"
	case "float64":
		return "a number"
	case "bool":
		return "true or false"
	case "duration":
		return "a time such as 30s or 5m"
	}
	return "a value"
}

// OneOf refuses a value that is not one of the known words. An empty value is allowed.
func OneOf(flag, value string, known []string) error {
	if value == "" || slices.Contains(known, value) {
		return nil
	}
	return fmt.Errorf("%s %q: want one of %s", flag, value, strings.Join(known, ", "))
}

// Help returns the help command of a program. An unknown command is an error, which
// refuse may wrap.
func Help(refuse func(error) error) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show help for a command",
		ValidArgsFunction: func(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
			var list []cobra.Completion
			parent, _, err := c.Root().Find(args)
			if err != nil || parent == nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			for _, sub := range parent.Commands() {
				if sub.IsAvailableCommand() && strings.HasPrefix(sub.Name(), begun) {
					list = append(list, cobra.CompletionWithDesc(sub.Name(), sub.Short))
				}
			}
			return list, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			about := c.Root()
			for _, word := range args {
				i := slices.IndexFunc(about.Commands(), func(sub *cobra.Command) bool { return sub.Name() == word || sub.HasAlias(word) })
				if i < 0 {
					return refuse(Command(about, word))
				}
				about = about.Commands()[i]
			}
			about.InitDefaultHelpFlag() // shows --help in the list
			return about.Help()
		},
	}
}
