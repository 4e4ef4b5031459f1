package web

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"
)

// guard decides which requests are answered.
type guard struct {
	hosts   map[string]bool
	origins map[string]bool
	token   string
	session string // value of the login cookie: random for each process, never the token
	form    string // token of the forms, so that no other site can forge one
}

func newGuard(o Options) *guard {
	g := &guard{hosts: map[string]bool{"localhost": true}, origins: map[string]bool{}, token: o.Token, form: newSession()}
	for _, h := range o.AllowHosts {
		g.hosts[strings.ToLower(h)] = true
	}
	for _, origin := range o.AllowOrigins {
		g.origins[strings.ToLower(strings.TrimSuffix(origin, "/"))] = true
	}
	if g.token != "" {
		g.session = newSession()
	}
	return g
}

// knownHost reports whether a Host header names loopback, at any port, or an
// allowed host.
func (g *guard) knownHost(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(name, "["), "]"))
	if g.hosts[name] {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.Unmap().IsLoopback()
}

// fromElsewhere reports whether a page of another origin sent the request in a way
// that could read or change something here.
func (g *guard) fromElsewhere(r *http.Request) bool {
	origin := strings.ToLower(r.Header.Get("Origin"))
	if g.origins[origin] {
		return false
	}
	site := r.Header.Get("Sec-Fetch-Site")
	switch site {
	case "cross-site", "same-site":
		return origin != "" || !isNavigation(r)
	case "same-origin", "none":
		// A form sent under "no-referrer" has the origin "null".
		return origin != "" && origin != "null" && !ownOrigin(origin, r.Host)
	}
	return origin != "" && !ownOrigin(origin, r.Host)
}

func isNavigation(r *http.Request) bool {
	return r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

func ownOrigin(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && strings.EqualFold(u.Host, host)
}

// admit refuses requests by host, origin and method, before anything is read.
func (s *server) admit(c *gin.Context) {
	r := c.Request
	if !s.guard.knownHost(r.Host) {
		s.refuse(c, http.StatusForbidden, "This host name is not served here. Allow it with --allow-host.")
		return
	}
	if s.guard.fromElsewhere(r) {
		s.refuse(c, http.StatusForbidden, "Requests from other sites are not served. Allow an origin with --allow-origin.")
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead && (r.Method != http.MethodPost || c.FullPath() == "") {
		c.Header("Allow", "GET, HEAD")
		s.refuse(c, http.StatusMethodNotAllowed, "Only reading is possible here.")
		return
	}
	if origin := r.Header.Get("Origin"); s.guard.origins[strings.ToLower(origin)] {
		c.Header("Access-Control-Allow-Origin", origin)
		c.Header("Vary", "Origin")
	}
}

// refuse answers in plain text: a client refused here may not see a page.
func (s *server) refuse(c *gin.Context, status int, message string) {
	c.Data(status, "text/plain; charset=utf-8", []byte(message+"\n"))
	c.Abort()
}
