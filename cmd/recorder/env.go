package main

import (
	"net/url"
	"strings"
)

// client is a base-URL variable that clients read, and where what it points
// to is found at the recorder.
type client struct {
	variable string
	upstream string // name of the upstream that its own value becomes
	path     string // path of its API at the recorder when the variable was not set
}

// clients are the variables that "recorder run" sets: those of the official
// SDKs and of agents built on them.
var clients = []client{
	{"OPENAI_BASE_URL", "openai", "/v1"},
	{"OPENAI_API_BASE", "openai", "/v1"},
	{"ANTHROPIC_BASE_URL", "anthropic", ""},
	{"GOOGLE_GEMINI_BASE_URL", "gemini", ""},
	{"OLLAMA_HOST", "ollama", ""},
}

// baseURLs tells where each variable points to at the recorder. A value that a
// variable already has becomes an upstream, unless the user has named
// upstreams: then those are what is recorded.
func baseURLs(o *options) map[string]string {
	paths := map[string]string{}
	named := len(o.upstreams) > 0
	taken := map[string]string{}
	for _, c := range clients {
		paths[c.variable] = c.path
		value := strings.TrimRight(o.getenv(c.variable), "/")
		u, err := url.Parse(value)
		if named || value == "" || err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			continue
		}
		if known, ok := taken[c.upstream]; ok && known != value {
			continue
		}
		if taken[c.upstream] == "" {
			o.upstreams = append(o.upstreams, c.upstream+"="+value)
		}
		taken[c.upstream] = value
		paths[c.variable] = "/" + c.upstream
	}
	return paths
}

// environment sets the variables for a recorder at that URL.
func environment(paths map[string]string, at string) []string {
	env := []string{}
	for _, c := range clients {
		env = append(env, c.variable+"="+at+paths[c.variable])
	}
	return env
}
