package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake/formats"
	"github.com/retake-debugger/retake/redact"
)

// mostVault bounds a vault, and a text whose secrets are restored.
const mostVault = 1 << 30

// redacting makes the export read everything without its secrets.
func (x *exporting) redacting() error {
	if !x.o.redact && x.o.vault == "" && x.o.rules == "" {
		return nil
	}
	var own *redact.Rules
	if x.o.rules != "" {
		f, err := os.Open(x.o.rules)
		if err != nil {
			return fmt.Errorf("open rules: %w", err)
		}
		defer f.Close()
		if own, err = redact.ReadRules(f); err != nil {
			return usageError{err}
		}
	}
	x.scrub = redact.NewScrubber(own)
	if x.o.vault != "" {
		v, err := readVault(x.o.vault)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		x.scrub.Reuse(v)
	}
	x.reader = formats.NewRedacted(x.reader, x.scrub)
	return nil
}

// tellRedacted lists the replacements and saves them in the vault.
func (x *exporting) tellRedacted() error {
	if x.scrub == nil {
		return nil
	}
	report := x.scrub.Report()
	for _, r := range report {
		fmt.Fprintf(x.err, "inspect: redacted: %s %s\n", r.Kind, r.Placeholder)
	}
	if len(report) == 0 {
		fmt.Fprintln(x.err, "inspect: redacted: nothing")
	}
	if x.o.vault == "" {
		return nil
	}
	return x.writeTo(x.o.vault, func(w io.Writer) error { return newJSON(w).Encode(x.scrub.Vault()) })
}

func readVault(file string) (redact.Vault, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("open vault: %w", err)
	}
	defer f.Close()
	var v redact.Vault
	if err := json.NewDecoder(io.LimitReader(f, mostVault)).Decode(&v); err != nil {
		return nil, fmt.Errorf("read vault: %w", err)
	}
	return v, nil
}

func newUnredact(a *app) *cobra.Command {
	var vault, file string
	c := &cobra.Command{
		Use:   "unredact FILE",
		Short: "Restore the secrets that an export with --vault replaced",
		Long: `unredact writes a file with each placeholder replaced by the secret that it stands
for, which the vault of the export has. - is standard input.`,
		Example: `  inspect export r12 --format html --vault secrets.json -o r12.html
  inspect unredact r12.html --vault secrets.json -o r12.whole.html`,
		Args: arguments(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			if vault == "" {
				return usageError{errors.New("--vault names the file that the export wrote")}
			}
			v, err := readVault(vault)
			if err != nil {
				return err
			}
			in := a.in
			if args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return fmt.Errorf("open file: %w", err)
				}
				defer f.Close()
				in = f
			}
			text, err := io.ReadAll(io.LimitReader(in, mostVault))
			if err != nil {
				return fmt.Errorf("read file: %w", err)
			}
			whole, err := v.Restore(string(text))
			if err != nil {
				return err
			}
			return a.writeTo(file, func(w io.Writer) error {
				_, err := io.WriteString(w, whole)
				return err
			})
		},
	}
	c.Flags().StringVar(&vault, "vault", "", "the file that the export wrote")
	c.Flags().StringVarP(&file, "output", "o", "", "write to this file instead of standard output")
	return c
}
