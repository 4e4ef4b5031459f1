// Package dialecttest helps tests of APIs.
package dialecttest

import (
	"slices"
	"testing"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/dialect/api"
)

// Add puts an API into dialect.APIs until the test ends. It changes the package's list,
// because that is the one line that a new API costs: what is tested then is that every
// package asks this list. Call it before anything is opened, and not in a parallel test.
func Add(t *testing.T, a *api.API) {
	t.Helper()
	t.Setenv("RETAKE_DIALECTTEST", string(a.Name)) // fails in a parallel test
	was := dialect.APIs
	dialect.APIs = append(slices.Clone(was), a)
	t.Cleanup(func() { dialect.APIs = was })
}
