package workspace

import "github.com/retake-debugger/retake/redact"

// Omit says, before Start, what is left out of what is stored.
func (w *Workspace) Omit(what string) { w.runner.Omit(what) }

// Redact says, before Start, by what secrets are replaced in what is stored: by
// the same placeholders in every process that has this spool folder.
func (w *Workspace) Redact(s *redact.Scrubber) {
	if s != nil {
		s.Keyed(w.salt)
	}
	w.runner.Redact(s)
}
