package workspace

import "github.com/retake-debugger/retake/redact"

// Omit says, before Start, what is left out of what is stored.
func (w *Workspace) Omit(what string) { w.runner.Omit(what) }

// Redact says, before Start, by what secrets are replaced in what is stored.
func (w *Workspace) Redact(s *redact.Scrubber) { w.runner.Redact(s) }
