package workspace

// Omit says, before Start, what is left out of what is stored.
func (w *Workspace) Omit(what string) { w.runner.Omit(what) }
