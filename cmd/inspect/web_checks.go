package main

import (
	"fmt"
	"strings"

	"github.com/retake-debugger/retake/web"
)

// pageChecks parses the checks that a page may choose: NAME=CMD each.
func pageChecks(list []string) ([]web.Check, error) {
	var checks []web.Check
	for _, s := range list {
		name, command, ok := strings.Cut(s, "=")
		if !ok || name == "" || command == "" {
			return nil, usageError{fmt.Errorf("--check %q: want NAME=CMD", s)}
		}
		checks = append(checks, web.Check{Name: name, Holds: runCheck(command)})
	}
	return checks, nil
}
