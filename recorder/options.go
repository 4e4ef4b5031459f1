package recorder

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/x509"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/retake-debugger/retake/recorder/relay"
	"github.com/retake-debugger/retake/recorder/spool"
	"github.com/retake-debugger/retake/redact"
)

// Upstream is a model API to relay to. Its URL may have a path, which comes before
// that of each request. An upstream without a name takes every path; others take
// those under /NAME/.
type Upstream struct {
	Name string
	URL  *url.URL
}

// Options says what to record and how. The zero Options records nothing and relays
// to nobody.
type Options struct {
	Spool  *spool.Spool     // nil: relay and record nothing
	Redact *redact.Redactor // nil: a random salt, so that fingerprints cannot be compared
	Label  string           // names the run that the exchanges belong to
	NewID  func() string    // nil: UUID v7
	Now    func() time.Time // nil: time.Now
	Log    *slog.Logger     // nil: no log

	ExcludePaths   []string // paths that are not recorded: patterns of path.Match, or prefixes if they end in /
	ExcludeHeaders []string // requests that are not recorded: those with this header ("Name"), or with this value of it ("Name: value")

	// The rest is for NewProxy.

	Upstreams    []Upstream
	Find         func(path string) string              // returns the name of the upstream of a path that begins with none; nil: a path without a name has none
	OpensSockets func(path string) bool                // reports whether clients open WebSockets to models there; nil: nowhere
	Listen       string                                // host:port that the proxy listens on: always allowed as Host header, never as upstream
	Token        string                                // "": no token is needed
	AllowHosts   []string                              // more allowed Host headers than loopback and Listen, with or without port
	AllowOrigins []string                              // more allowed browser origins than our own; "*" allows all
	Proxy        func(*http.Request) (*url.URL, error) // nil: dial upstreams directly; asked once for each upstream without TLS
	RootCAs      *x509.CertPool                        // nil: those of the system
	WebSockets   bool                                  // relay WebSockets on model paths instead of answering 426
	Status       func() map[string]any                 // more members for /_retake/status
}

// fill sets the defaults.
func (o *Options) fill() {
	if o.Redact == nil {
		salt := make([]byte, 16)
		rand.Read(salt)
		o.Redact = redact.New(salt)
	}
	if o.NewID == nil {
		o.NewID = newIDs()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

// stall is how long a write to the spool may hold a stream.
func (o *Options) stall() time.Duration {
	if o.Spool != nil {
		return o.Spool.Stall()
	}
	return spool.DefaultStall
}

// relay is what a Relay needs of the options.
func (o *Options) relay() relay.Config {
	return relay.Config{Log: o.Log, Now: o.Now, Listen: o.Listen, Proxy: o.Proxy, RootCAs: o.RootCAs, Stall: o.stall()}
}

// newIDs returns a source of UUID v7 that reads randomness from the system in
// blocks.
func newIDs() func() string {
	var mu sync.Mutex
	random := bufio.NewReaderSize(rand.Reader, 1024)
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		id, err := uuid.NewV7FromReader(random)
		if err != nil { // no entropy: does not happen on current systems
			return uuid.NewString()
		}
		return id.String()
	}
}

type idKey struct{}
type labelKey struct{}

// WithID sets the id of the exchange of a request with this context.
func WithID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, idKey{}, id)
}

// WithLabel sets the label of the exchange of a request with this context, in place
// of that in the Options.
func WithLabel(ctx context.Context, label string) context.Context {
	return context.WithValue(ctx, labelKey{}, label)
}

// begin describes a request that begins now.
func (o *Options) begin(ctx context.Context, c *spool.Recording, r *http.Request) *spool.Begin {
	b := &spool.Begin{Label: o.Label, Method: r.Method, Header: r.Header, StartedAt: c.StartedAt()}
	if id, ok := ctx.Value(idKey{}).(string); ok {
		b.ID = id
	} else {
		b.ID = o.NewID()
	}
	if label, ok := ctx.Value(labelKey{}).(string); ok {
		b.Label = label
	}
	return b
}
