package recorder

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// upstream is an Upstream made ready: where to dial and what to put before a path.
type upstream struct {
	name   string
	scheme string
	host   string
	base   string // path without a slash at its end

	plain   bool // called over plain HTTP/1.1
	proxied bool // by way of an HTTP proxy, in absolute form
}

// routes says which upstream takes a request.
type routes struct {
	all   *upstream // takes what no name takes; nil if there is none
	named map[string]*upstream
	list  []string // what is configured, for people to read
}

func newRoutes(configured []Upstream, proxy func(*http.Request) (*url.URL, error)) (*routes, error) {
	r := &routes{named: map[string]*upstream{}}
	if len(configured) == 0 {
		configured = Providers()
	}
	for _, c := range configured {
		if err := r.add(c, proxy); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *routes) add(c Upstream, proxy func(*http.Request) (*url.URL, error)) error {
	u := c.URL
	if u == nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return fmt.Errorf("use upstream %q: need http://HOST or https://HOST", c.Name)
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("use upstream %q: its URL has a query or fragment", c.Name)
	}
	up := &upstream{name: c.Name, scheme: u.Scheme, host: u.Host, base: strings.TrimRight(u.EscapedPath(), "/")}
	if up.scheme == "http" {
		var via *url.URL
		var err error
		if proxy != nil {
			via, err = proxy(&http.Request{URL: u, Header: http.Header{}})
		}
		up.plain, up.proxied = via == nil && err == nil, via != nil
	}
	shown := up.scheme + "://" + up.host + up.base
	switch {
	case c.Name == "" && r.all != nil:
		return fmt.Errorf("use upstream %s: a second one without a name", shown)
	case c.Name == "":
		up.name = u.Host
		r.all = up
		r.list = append(r.list, "/ → "+shown)
	case strings.ContainsAny(c.Name, "/?#%") || strings.HasPrefix(c.Name, "_"):
		return fmt.Errorf("use upstream %q: a name has no /?#%% and no _ in front", c.Name)
	case r.named[c.Name] != nil:
		return fmt.Errorf("use upstream %q: named twice", c.Name)
	default:
		r.named[c.Name] = up
		r.list = append(r.list, "/"+c.Name+"/ → "+shown)
	}
	return nil
}

// find gives the upstream of an escaped path and the path there. nil if no
// upstream takes it.
func (r *routes) find(path string) (*upstream, string) {
	first, rest, more := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if u := r.named[first]; u != nil {
		if more {
			rest = "/" + rest
		}
		return u, joinPath(u.base, rest)
	}
	if r.all != nil {
		return r.all, joinPath(r.all.base, path)
	}
	if u := r.named[wellKnown(path)]; u != nil {
		return u, joinPath(u.base, path)
	}
	return nil, ""
}

// joinPath puts base before path. Where base ends in a version and path starts
// with the same segments ("/api/v1" and "/v1/chat"), they are there once: some
// clients put the version in their base URL, others add it.
func joinPath(base, path string) string {
	if base == "" {
		if path == "" {
			return "/"
		}
		return path
	}
	if !version(base[strings.LastIndexByte(base, '/')+1:]) {
		return base + path
	}
	for i := 0; i < len(base); i++ {
		if base[i] != '/' {
			continue
		}
		rest, ok := strings.CutPrefix(path, base[i:])
		if ok && (rest == "" || rest[0] == '/') {
			return base + rest
		}
	}
	return base + path
}

// version tells whether a path segment is one: v1, v1beta, v4.
func version(segment string) bool {
	return len(segment) > 1 && segment[0] == 'v' && segment[1] >= '0' && segment[1] <= '9'
}

// target gives the URL of a request to u with that escaped path and query, so
// that net/http writes both byte for byte.
func (u *upstream) target(path string, in *url.URL) *url.URL {
	out := &url.URL{Scheme: u.scheme, Host: u.host, RawQuery: in.RawQuery, ForceQuery: in.ForceQuery}
	switch {
	case u.proxied:
		out.Opaque = "//" + u.host + path
	case strings.HasPrefix(path, "//"): // net/http would take an opaque one for absolute
		out.Path, out.RawPath = path, path
		if plain, err := url.PathUnescape(path); err == nil {
			out.Path = plain
		}
	default:
		out.Opaque = path
	}
	return out
}

// recordedURL is the URL that is called, as text.
func recordedURL(u *upstream, path string, r *http.Request) string {
	s := u.scheme + "://" + u.host + path
	if r.URL.RawQuery != "" || r.URL.ForceQuery {
		s += "?" + r.URL.RawQuery
	}
	return s
}

// rawPath gives the path of a request as it stood in the request line.
func rawPath(r *http.Request) string {
	path := r.RequestURI
	if path == "" || (path[0] != '/' && path != "*") { // absolute form, or not from a server
		return r.URL.EscapedPath()
	}
	if i := strings.IndexAny(path, "?#"); i >= 0 {
		path = path[:i]
	}
	return path
}
