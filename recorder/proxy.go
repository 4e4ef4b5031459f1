package recorder

import (
	"net"
	"net/http"
	"strings"

	"github.com/retake-debugger/retake/recorder/relay"
)

// Proxy is an http.Handler that relays requests to upstreams and records them. Its
// own paths lie under /_retake/.
type Proxy struct {
	opts   Options
	routes *routes
	access *access
	relay  *relay.Relay
}

// NewProxy returns a Proxy. It fails if an upstream cannot be called.
func NewProxy(opts Options) (*Proxy, error) {
	opts.fill()
	r, err := newRoutes(opts.Upstreams, opts.Find, opts.Proxy)
	if err != nil {
		return nil, err
	}
	return &Proxy{opts: opts, routes: r, access: newAccess(&opts), relay: relay.New(opts.relay())}, nil
}

func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if why := p.access.refuse(r); why != "" {
		relay.WriteError(w, http.StatusForbidden, relay.ErrorReply{Type: "forbidden", Message: why})
		return
	}
	path, admitted := p.access.admit(r, rawPath(r))
	if path == "/_retake/health" {
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte("{\"status\":\"ok\"}\n"))
		return
	}
	if !admitted {
		relay.WriteError(w, http.StatusForbidden, relay.ErrorReply{Type: "forbidden", Message: "needs the recorder's token, in " + tokenHeader + " or as base path " + tokenPath + "TOKEN"})
		return
	}
	if strings.HasPrefix(path, "/_retake/") {
		p.own(w, r, path)
		return
	}
	up, target := p.routes.find(path)
	if up == nil || r.Method == http.MethodConnect {
		relay.WriteError(w, http.StatusNotFound, relay.ErrorReply{Type: "not_found", Message: "no upstream takes this path", Routes: p.routes.list})
		return
	}
	protocol := relay.Upgrade(r.Header)
	if strings.EqualFold(protocol, "websocket") && !p.opts.WebSockets && p.opts.OpensSockets != nil && p.opts.OpensSockets(target) {
		// Clients fall back to HTTP when they are refused.
		relay.WriteError(w, http.StatusUpgradeRequired, relay.ErrorReply{Type: "websocket_refused",
			Message: "this recorder takes model calls over HTTP; start it with --websocket relay to pass WebSockets through"})
		return
	}
	call := relay.Call{Upstream: up, Path: target}
	if call.Recording = p.opts.record(r, path); call.Recording != nil {
		call.Begin = p.opts.begin(r.Context(), call.Recording, r)
		call.Begin.URL, call.Begin.Upstream = up.RequestURL(target, r), up.Name
	}
	if protocol != "" {
		p.relay.Tunnel(w, r, call)
	} else {
		p.relay.Forward(w, r, call)
	}
}

// Serve serves the proxy on l by means of s, whose handler it becomes. A chunk of
// an answer then reaches the client in one write; see relay.Relay.Serve.
func (p *Proxy) Serve(s *http.Server, l net.Listener) error {
	s.Handler = p
	return p.relay.Serve(s, l)
}

// Close stops what is in flight, with outcome RecorderStopped, and closes the idle
// connections to upstreams. Call it when a graceful stop took too long.
func (p *Proxy) Close() error {
	p.relay.Close()
	return nil
}
