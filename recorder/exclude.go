package recorder

import (
	"net/http"
	"path"
	"strings"

	"github.com/retake-debugger/retake/recorder/spool"
)

// record begins to record a request to this path. It returns nil if the request is
// excluded or cannot be recorded.
func (o *Options) record(r *http.Request, at string) *spool.Recording {
	if o.Spool != nil && o.excluded(r, at) {
		o.Spool.Skip()
		return nil
	}
	return o.Spool.Begin(o.Now, o.Redact)
}

// excluded reports whether the options exclude a request to this path.
func (o *Options) excluded(r *http.Request, at string) bool {
	for _, pattern := range o.ExcludePaths {
		if strings.HasSuffix(pattern, "/") && strings.HasPrefix(at, pattern) {
			return true
		}
		if ok, err := path.Match(pattern, at); ok && err == nil {
			return true
		}
	}
	for _, want := range o.ExcludeHeaders {
		name, value, exact := strings.Cut(want, ":")
		for _, v := range r.Header.Values(strings.TrimSpace(name)) {
			if !exact || v == strings.TrimSpace(value) {
				return true
			}
		}
	}
	return false
}
