package web

import (
	"slices"

	"github.com/retake-debugger/retake/lint"
)

// worth returns the findings that a page shows. Informational ones are only in the
// JSON.
func worth(list []lint.Finding) []lint.Finding {
	return slices.DeleteFunc(slices.Clone(list), func(f lint.Finding) bool { return f.Severity == lint.Info })
}
