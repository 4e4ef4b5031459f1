package formats

import (
	"strings"

	"github.com/retake-debugger/retake/redact"
)

// safeHeader removes credentials from a header, except for those that a recorder has
// removed already.
func (s *Source) safeHeader(h map[string][]string) map[string][]string {
	out := make(map[string][]string, len(h))
	for name, values := range h {
		safe := make([]string, len(values))
		for i, v := range values {
			if safe[i] = v; !strings.Contains(v, redact.Mark+" fp:") {
				safe[i] = s.Redact.Value(name, v)
			}
		}
		out[name] = safe
	}
	return out
}

func (s *Source) safeURL(u string) string {
	if strings.Contains(u, redact.Mark+"+fp:") {
		return u
	}
	return s.Redact.URL(u)
}
