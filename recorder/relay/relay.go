package relay

import (
	"context"
	"crypto/x509"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/retake-debugger/retake/recorder/spool"
)

// Config is what a Relay needs to know.
type Config struct {
	Log     *slog.Logger
	Now     func() time.Time
	Listen  string                                // host:port that the proxy listens on, which is never an upstream
	Proxy   func(*http.Request) (*url.URL, error) // nil: dial upstreams directly
	RootCAs *x509.CertPool                        // nil: those of the system
	Stall   time.Duration                         // how long a write to the spool may hold a stream
}

// Relay relays requests to upstreams and records them on the way.
type Relay struct {
	log        *slog.Logger
	transport  *http.Transport
	plain      *plainPool
	buffers    *bufferPool
	writers    *AsyncWriters
	watchdog   *watchdog
	smallBytes atomic.Int64 // bytes of small request bodies in memory

	mu      sync.Mutex
	running map[running]bool
	stopped bool
}

// Call is a request to relay.
type Call struct {
	Upstream  *Upstream
	Path      string           // at the upstream, escaped
	Recording *spool.Recording // nil: nothing is recorded
	Begin     *spool.Begin     // of the recording
}

// running is an exchange or a tunnel that can be stopped.
type running interface{ stop() }

// New returns a Relay.
func New(c Config) *Relay {
	buffers := &bufferPool{}
	d := newDialer(c.Listen, buffers)
	w := NewAsyncWriters(c.Stall)
	return &Relay{log: c.Log, transport: newUpstreamTransport(c, d), plain: newPlainPool(d, c.Now), buffers: buffers,
		writers: w, watchdog: w.watchdog, running: map[running]bool{}}
}

// Serve serves l by means of s. net/http writes a large chunk of an answer to the
// connection in several parts, and each wakes the client. Under Serve a chunk is
// written at once.
func (r *Relay) Serve(s *http.Server, l net.Listener) error {
	s.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, clientKey{}, c)
	}
	return s.Serve(&clientListener{Listener: l, buffers: r.buffers})
}

// InFlight returns the number of exchanges and tunnels under way.
func (r *Relay) InFlight() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.running)
}

// Close stops what is in flight, with outcome RecorderStopped, and closes the idle
// connections to upstreams.
func (r *Relay) Close() {
	r.mu.Lock()
	r.stopped = true
	for x := range r.running {
		x.stop()
	}
	r.mu.Unlock()
	r.transport.CloseIdleConnections()
	r.plain.close()
}

// enter registers an exchange that begins.
func (r *Relay) enter(x running) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running[x] = true
	if r.stopped {
		x.stop()
	}
}

// leave removes an exchange that has ended.
func (r *Relay) leave(x running) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.running, x)
}
