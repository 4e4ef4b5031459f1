package recorder

import (
	"context"
	"crypto/x509"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/retake-debugger/retake/redact"
)

// Upstream is a model API to relay to. Its URL may have a path, which goes
// before that of each request. An upstream without a name takes everything;
// others hang under /NAME/.
type Upstream struct {
	Name string
	URL  *url.URL
}

// Options says what to record and how. The zero Options records nothing and
// relays to the well-known providers.
type Options struct {
	Spool  *Spool           // nil: relay and record nothing
	Redact *redact.Redactor // nil: fingerprints that nobody can compare
	Label  string           // names the run that the exchanges belong to
	NewID  func() string    // nil: UUID v7
	Now    func() time.Time // nil: time.Now
	Log    *slog.Logger     // nil: no log

	// The rest is for NewProxy alone.

	Upstreams    []Upstream                            // none: the well-known providers, by name and by path
	Listen       string                                // host:port listened on: a Host header that is always right, and an upstream that never is
	Token        string                                // "": none needed
	AllowHosts   []string                              // Host headers allowed beside loopback and Listen, with or without port
	AllowOrigins []string                              // browser origins allowed beside our own; "*" allows all
	Proxy        func(*http.Request) (*url.URL, error) // nil: dial upstreams directly
	RootCAs      *x509.CertPool                        // nil: those of the system
	WebSockets   bool                                  // relay WebSockets on model paths instead of answering 426
	Status       func() map[string]any                 // more members for /_retake/status
}

type idKey struct{}
type labelKey struct{}

// WithID makes the exchange of the request with that context have that id.
func WithID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, idKey{}, id)
}

// WithLabel makes the exchange of the request with that context have that
// label instead of that of the Options.
func WithLabel(ctx context.Context, label string) context.Context {
	return context.WithValue(ctx, labelKey{}, label)
}
