package relay

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// Upstream is where requests are relayed to.
type Upstream struct {
	Name string

	scheme string
	host   string
	base   string // path without a slash at its end

	plain   bool // called over plain HTTP/1.1
	proxied bool // called through an HTTP proxy, in absolute form
}

// NewUpstream returns the upstream at a URL. proxy says which proxy it is called
// through; it is asked once, for an upstream without TLS.
func NewUpstream(name string, u *url.URL, proxy func(*http.Request) (*url.URL, error)) (*Upstream, error) {
	if u == nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, errors.New("need http://HOST or https://HOST")
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("its URL has a query or fragment")
	}
	up := &Upstream{Name: name, scheme: u.Scheme, host: u.Host, base: strings.TrimRight(u.EscapedPath(), "/")}
	if up.scheme == "http" {
		var via *url.URL
		var err error
		if proxy != nil {
			via, err = proxy(&http.Request{URL: u, Header: http.Header{}})
		}
		up.plain, up.proxied = via == nil && err == nil, via != nil
	}
	return up, nil
}

// String returns the URL of the upstream.
func (u *Upstream) String() string { return u.scheme + "://" + u.host + u.base }

// Path returns the path at the upstream of a request with this escaped path. Where
// the upstream's own path ends in a version and path starts with the same segments
// ("/api/v1" and "/v1/chat"), they appear once: some clients put the version into
// their base URL, others add it.
func (u *Upstream) Path(path string) string {
	base := u.base
	if base == "" {
		if path == "" {
			return "/"
		}
		return path
	}
	if !isVersion(base[strings.LastIndexByte(base, '/')+1:]) {
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

// isVersion reports whether a path segment is a version: v1, v1beta, v4.
func isVersion(segment string) bool {
	return len(segment) > 1 && segment[0] == 'v' && segment[1] >= '0' && segment[1] <= '9'
}

// target returns the URL of a request to u with that escaped path and query, in a
// form that net/http writes byte for byte.
func (u *Upstream) target(path string, in *url.URL) *url.URL {
	out := &url.URL{Scheme: u.scheme, Host: u.host, RawQuery: in.RawQuery, ForceQuery: in.ForceQuery}
	switch {
	case u.proxied:
		out.Opaque = "//" + u.host + path
	case strings.HasPrefix(path, "//"): // net/http would read an opaque one as absolute
		out.Path, out.RawPath = path, path
		if plain, err := url.PathUnescape(path); err == nil {
			out.Path = plain
		}
	default:
		out.Opaque = path
	}
	return out
}

// RequestURL returns the URL of a request with this path at the upstream, as text.
func (u *Upstream) RequestURL(path string, r *http.Request) string {
	s := u.scheme + "://" + u.host + path
	if r.URL.RawQuery != "" || r.URL.ForceQuery {
		s += "?" + r.URL.RawQuery
	}
	return s
}
