package recorder

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
)

// Proxy is an http.Handler that relays to upstreams and records. Its own paths
// lie under /_retake/.
type Proxy struct {
	opts      Options
	routes    *routes
	access    *access
	transport *http.Transport
	plain     *plainPool
	buffers   *bufferPool
	dog       *watchdog
	flight    atomic.Int64 // bytes of request bodies held in memory

	mu      sync.Mutex
	running map[running]bool
	stopped bool
}

// NewProxy makes a Proxy. It fails if an upstream cannot be called.
func NewProxy(opts Options) (*Proxy, error) {
	opts.fill()
	r, err := newRoutes(opts.Upstreams, opts.Proxy)
	if err != nil {
		return nil, err
	}
	p := &Proxy{opts: opts, routes: r, access: newAccess(&opts), running: map[running]bool{}, buffers: &bufferPool{}}
	d := newDialer(&opts, p.buffers)
	p.transport, p.plain = newUpstreamTransport(&opts, d), newPlainPool(d, opts.Now)
	if opts.Spool != nil {
		p.dog = opts.Spool.dog
	} else {
		p.dog = newWatchdog(defaultStall)
	}
	return p, nil
}

func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if why := p.access.refuse(r); why != "" {
		apologise(w, http.StatusForbidden, apology{Type: "forbidden", Message: why})
		return
	}
	path, admitted := p.access.admit(r, rawPath(r))
	if path == "/_retake/health" {
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte("{\"status\":\"ok\"}\n"))
		return
	}
	if !admitted {
		apologise(w, http.StatusForbidden, apology{Type: "forbidden", Message: "needs the recorder's token, in " + tokenHeader + " or as base path " + tokenPath + "TOKEN"})
		return
	}
	if strings.HasPrefix(path, "/_retake/") {
		p.own(w, r, path)
		return
	}
	asked := path
	up, path := p.routes.find(asked)
	if up == nil || r.Method == http.MethodConnect {
		apologise(w, http.StatusNotFound, apology{Type: "not_found", Message: "no upstream takes this path", Routes: p.routes.list})
		return
	}
	if upgrade(r.Header) != "" {
		p.upgrade(w, r, up, asked, path)
		return
	}
	newRelay(p, w, r, up, asked, path).serve()
}

// Close cuts what is in flight, as outcome RecorderStopped, and the idle
// connections to upstreams. Call it when a graceful stop took too long.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.stopped = true
	for x := range p.running {
		x.stop()
	}
	p.mu.Unlock()
	p.transport.CloseIdleConnections()
	p.plain.close()
	return nil
}

// running is an exchange that can be cut.
type running interface{ stop() }

// enter notes an exchange that begins, leave one that is over.
func (p *Proxy) enter(x running) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running[x] = true
	if p.stopped {
		x.stop()
	}
}

func (p *Proxy) leave(x running) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.running, x)
}
