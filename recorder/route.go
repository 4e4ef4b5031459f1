package recorder

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/retake-debugger/retake/recorder/relay"
)

// routes says which upstream takes a request.
type routes struct {
	fallback *relay.Upstream // takes what no name takes; nil if there is none
	named    map[string]*relay.Upstream
	byPath   func(string) string
	list     []string // what is configured, for people to read
}

func newRoutes(configured []Upstream, byPath func(string) string, proxy func(*http.Request) (*url.URL, error)) (*routes, error) {
	r := &routes{named: map[string]*relay.Upstream{}, byPath: byPath}
	for _, c := range configured {
		if err := r.add(c, proxy); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *routes) add(c Upstream, proxy func(*http.Request) (*url.URL, error)) error {
	up, err := relay.NewUpstream(c.Name, c.URL, proxy)
	switch {
	case err != nil:
		return fmt.Errorf("use upstream %q: %w", c.Name, err)
	case c.Name == "" && r.fallback != nil:
		return fmt.Errorf("use upstream %s: a second one without a name", up)
	case c.Name == "":
		up.Name = c.URL.Host
		r.fallback = up
		r.list = append(r.list, "/ → "+up.String())
	case strings.ContainsAny(c.Name, "/?#%") || strings.HasPrefix(c.Name, "_"):
		return fmt.Errorf("use upstream %q: a name has no /?#%% and no _ in front", c.Name)
	case r.named[c.Name] != nil:
		return fmt.Errorf("use upstream %q: named twice", c.Name)
	default:
		r.named[c.Name] = up
		r.list = append(r.list, "/"+c.Name+"/ → "+up.String())
	}
	return nil
}

// find returns the upstream of an escaped path and the path there; nil if no
// upstream takes it.
func (r *routes) find(path string) (*relay.Upstream, string) {
	first, rest, more := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if u := r.named[first]; u != nil {
		if more {
			rest = "/" + rest
		}
		return u, u.Path(rest)
	}
	u := r.fallback
	if u == nil && r.byPath != nil {
		u = r.named[r.byPath(path)]
	}
	if u == nil {
		return nil, ""
	}
	return u, u.Path(path)
}

// rawPath returns the path of a request as it stood in the request line.
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
