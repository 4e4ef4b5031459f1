package recorder

import (
	"net/http"
	"path"
	"strings"
)

// Pause stops recording, or resumes it. What is being recorded goes on; what
// begins while it is paused is skipped.
func (s *Spool) Pause(pause bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Paused = pause
}

// capture begins to record a request to that path, unless it is excluded.
func (o *Options) capture(r *http.Request, at string) *capture {
	if o.Spool != nil && o.excluded(r, at) {
		o.Spool.mu.Lock()
		defer o.Spool.mu.Unlock()
		o.Spool.stats.Skipped++
		return nil
	}
	return o.Spool.begin(o.Now, o.Redact)
}

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

// pause answers POST /_retake/pause and /_retake/resume.
func (p *Proxy) pause(w http.ResponseWriter, r *http.Request, pause bool) {
	switch {
	case r.Method != http.MethodPost:
		apologise(w, http.StatusMethodNotAllowed, apology{Type: "method_not_allowed", Message: "use POST"})
	case p.opts.Spool == nil:
		apologise(w, http.StatusConflict, apology{Type: "not_recording", Message: "nothing is recorded"})
	default:
		p.opts.Spool.Pause(pause)
		p.status(w)
	}
}
