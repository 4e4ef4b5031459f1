package recorder

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// access decides who may use the proxy. Web pages must not: they are recognised by
// their Host (a name that points to this machine), Origin and Sec-Fetch-Site.
type access struct {
	hosts   map[string]bool // lower case, with or without a port
	origins map[string]bool
	token   string
}

const (
	tokenHeader = "X-Retake-Token"
	tokenPath   = "/_t/"
)

func newAccess(o *Options) *access {
	a := &access{hosts: map[string]bool{}, origins: map[string]bool{}, token: o.Token}
	for _, h := range append([]string{o.Listen}, o.AllowHosts...) {
		if h != "" {
			a.hosts[strings.ToLower(h)] = true
		}
	}
	for _, origin := range o.AllowOrigins {
		a.origins[strings.ToLower(strings.TrimSuffix(origin, "/"))] = true
	}
	return a
}

// refuse returns why a request is refused, or "".
func (a *access) refuse(r *http.Request) string {
	if !a.knownHost(r) {
		return "unknown Host; allow it with --allow-host"
	}
	origin := strings.ToLower(r.Header.Get("Origin"))
	if a.origins["*"] || (origin != "" && a.origins[origin]) {
		return ""
	}
	host := strings.ToLower(r.Host)
	if origin != "" && origin != "http://"+host && origin != "https://"+host {
		return "foreign Origin; allow it with --allow-origin"
	}
	switch strings.ToLower(r.Header.Get("Sec-Fetch-Site")) {
	case "cross-site", "same-site":
		return "request of a foreign web page"
	}
	return ""
}

// knownHost reports whether the Host header names this machine's loopback, the
// address that the connection came in on, or an allowed host.
func (a *access) knownHost(r *http.Request) bool {
	whole := strings.ToLower(r.Host)
	if whole == "" {
		return false
	}
	host, _, err := net.SplitHostPort(whole)
	if err != nil {
		host = trimBrackets(whole)
	}
	if host == "localhost" || a.hosts[whole] || a.hosts[host] {
		return true
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	return ip.Unmap().IsLoopback() || ip.Unmap() == localAddr(r).Addr().Unmap()
}

// trimBrackets returns the address of an IPv6 literal.
func trimBrackets(host string) string {
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		return host[1 : len(host)-1]
	}
	return host
}

// localAddr returns the address that the request's connection came in on.
func localAddr(r *http.Request) netip.AddrPort {
	if a, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		return a.AddrPort()
	}
	return netip.AddrPort{}
}

// admit checks the token and removes it from header and path. It returns the path
// without it.
func (a *access) admit(r *http.Request, path string) (string, bool) {
	given := r.Header.Get(tokenHeader)
	r.Header.Del(tokenHeader)
	if rest, ok := strings.CutPrefix(path, tokenPath); ok {
		given, path, _ = strings.Cut(rest, "/")
		path = "/" + path
	}
	if a.token == "" {
		return path, true
	}
	return path, subtle.ConstantTimeCompare([]byte(given), []byte(a.token)) == 1
}
