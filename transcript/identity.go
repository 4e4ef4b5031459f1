package transcript

import (
	"net/textproto"
	"strings"
)

// Identity is what a client says about itself in the headers of a request. A field
// is empty if it says nothing. Session and Agent are prefixed by the client's name,
// so that those of two clients are different.
type Identity struct {
	Session string // names the run
	Agent   string // names the agent; it vetoes joining another agent's history
	Parent  string // names the agent that started this one
}

// clientHeaders are the headers by which one client names its sessions and
// agents.
type clientHeaders struct {
	client, session, agent, parent string
}

// knownClients, each as seen in its own traffic.
var knownClients = []clientHeaders{
	// Claude Code: the main agent sends no agent id, sub-agents do.
	{"claude-code", "X-Claude-Code-Session-Id", "X-Claude-Code-Agent-Id", "X-Claude-Code-Parent-Agent-Id"},
	// Codex: threads of one session; the main thread has the session's id.
	{"codex", "Session-Id", "Thread-Id", "X-Codex-Parent-Thread-Id"},
	{"codex", "Session_id", "Conversation_id", ""},
	// opencode: each sub-agent is a session of its own that names its parent.
	{"opencode", "", "X-Session-Id", "X-Parent-Session-Id"},
}

// Identify reads who sent a request from its headers.
func Identify(header map[string][]string) Identity {
	for _, c := range knownClients {
		get := func(name string) string {
			if v := header[textproto.CanonicalMIMEHeaderKey(name)]; name != "" && len(v) > 0 && !strings.HasPrefix(v[0], "[redacted]") {
				return v[0]
			}
			return ""
		}
		session, agent, parent := get(c.session), get(c.agent), get(c.parent)
		if session == "" && (c.session != "" || agent == "") {
			continue
		}
		named := func(id string) string {
			if id == "" {
				return ""
			}
			return c.client + ":" + id
		}
		id := Identity{Session: named(session), Agent: named(agent), Parent: named(parent)}
		if c.client == "claude-code" && agent != "" {
			id.Agent = named(session + "/" + agent)
			if id.Parent == "" || parent == "main" {
				id.Parent = named(session + "/")
			} else {
				id.Parent = named(session + "/" + parent)
			}
		}
		return id
	}
	return Identity{}
}

// IsSub reports whether the client says that another agent started this one.
func (id Identity) IsSub() bool { return id.Parent != "" && id.Parent != id.Agent }
