package formats

// IsSub tells by the beginning of a file whether it holds what a sub-agent did. The
// file in which that was started is better read first: then the call is known that
// started it. What quotation marks stand around is the program's own, since within a
// text they are escaped.
func (i *Importer) IsSub(head []byte) bool {
	switch first := firstLine(head); i.Name {
	case "claude-code":
		return holds(first, `"isSidechain":true`, `"agentId":`)
	case "codex":
		return holds(first, `"session_meta"`, `"thread_spawn":`, `"parent_thread_id":`)
	}
	return false
}
