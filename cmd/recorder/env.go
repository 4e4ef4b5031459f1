package main

import (
	"net/url"
	"slices"
	"strings"

	"github.com/retake-debugger/retake"
	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/recorder"
)

// client is a base-URL variable that clients read, and the upstream that it means.
type client struct {
	dialect.Client
	upstream string
}

// clients are the variables that "recorder run" sets.
func clients() []client {
	var all []client
	for _, p := range dialect.Providers() {
		for _, c := range p.Clients {
			all = append(all, client{c, p.Name})
		}
	}
	return all
}

// orKnown returns the well-known providers where no upstream is given.
func orKnown(upstreams []recorder.Upstream) []recorder.Upstream {
	if len(upstreams) == 0 {
		return retake.Upstreams()
	}
	return upstreams
}

// basePath returns the path at the recorder of the API that a variable points to.
// ok is false if no upstream serves it. A single upstream serves all.
func basePath(upstreams []recorder.Upstream, c client) (path string, ok bool) {
	for _, up := range upstreams {
		switch {
		case up.Name == "":
			return c.Path, true
		case up.Name == c.upstream, len(upstreams) == 1:
			if strings.Trim(up.URL.Path, "/") != "" {
				return "/" + up.Name, true // its URL already has the path
			}
			return "/" + up.Name + c.Path, true
		}
	}
	return c.Path, len(upstreams) == 0
}

// given returns the well-known providers with the values that the variables have
// already: a client that was pointed at a gateway still reaches it. It also returns the
// variables whose values cannot be used.
func given(getenv func(string) string) (upstreams []recorder.Upstream, unusable []string) {
	upstreams = retake.Upstreams()
	taken := map[string]bool{}
	for _, c := range clients() {
		value := getenv(c.Variable)
		if value == "" || taken[c.upstream] {
			continue
		}
		if !strings.Contains(value, "://") {
			value = "http://" + value // OLLAMA_HOST is usually HOST:PORT
		}
		u, err := url.Parse(value)
		if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || (u.Scheme != "http" && u.Scheme != "https") {
			unusable = append(unusable, c.Variable)
			continue
		}
		taken[c.upstream] = true
		i := slices.IndexFunc(upstreams, func(up recorder.Upstream) bool { return up.Name == c.upstream })
		upstreams[i].URL = u
	}
	return upstreams, unusable
}

// environment returns the variables for a recorder at that URL, and those that keep
// calls to it from going through a proxy. A variable that no upstream serves is left out.
func environment(upstreams []recorder.Upstream, at string, getenv func(string) string) []string {
	var env []string
	for _, c := range clients() {
		if path, ok := basePath(upstreams, c); ok {
			env = append(env, c.Variable+"="+at+path)
		}
	}
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		direct := "127.0.0.1,localhost"
		if value := getenv(name); value != "" {
			direct = value + "," + direct
		}
		env = append(env, name+"="+direct)
	}
	return env
}
