package redact

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// Rules are a user's own.
type Rules struct {
	rules      []rule
	keep       []*regexp.Regexp
	keepEmails bool
}

// ReadRules reads a file of rules, one a line:
//
//	# a comment
//	customer  CUST-[0-9]{6}          redact what matches, or its first group
//	keep      ^sk-test-              never redact a secret that matches
//	keep-emails                      keep e-mail addresses
func ReadRules(r io.Reader) (*Rules, error) {
	out := &Rules{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		if err := out.add(line); err != nil {
			return nil, fmt.Errorf("read rules, line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read rules: %w", err)
	}
	return out, nil
}

var ruleKind = regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`)

func (r *Rules) add(line string) error {
	kind, pattern, ok := strings.Cut(line, " ")
	if kind == "keep-emails" && !ok {
		r.keepEmails = true
		return nil
	}
	if tab, rest, cut := strings.Cut(kind, "\t"); cut {
		kind, pattern, ok = tab, rest+" "+pattern, true
	}
	if pattern = strings.TrimSpace(pattern); !ok || pattern == "" || !ruleKind.MatchString(kind) {
		return errors.New("want a name of letters and digits, and a regular expression")
	}
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		return err
	}
	if kind == "keep" {
		r.keep = append(r.keep, compiled)
		return nil
	}
	r.rules = append(r.rules, rule{kind: kind, own: compiled})
	return nil
}
