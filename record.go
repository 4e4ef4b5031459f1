package retake

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/transcript"
)

// Transport returns an http.RoundTripper that records what goes through base. A nil
// base stands for a transport that leaves compressed bodies as they come over the
// wire. An answer is recorded once its body is read to the end or closed.
func (db *DB) Transport(base http.RoundTripper) http.RoundTripper {
	return recorder.NewTransport(base, db.Recording())
}

// Middleware returns a handler that records the requests to next and its answers.
func (db *DB) Middleware(next http.Handler) http.Handler {
	return recorder.Middleware(next, db.Recording())
}

// Proxy returns a handler that relays to the upstreams and records. Without an
// upstream it relays to the well-known providers, by name and by path. For other
// settings, such as a token, pass the options of [DB.Recording] to
// [recorder.NewProxy]. Close the proxy before the database.
func (db *DB) Proxy(upstreams ...recorder.Upstream) (*recorder.Proxy, error) {
	o := db.Recording()
	if o.Upstreams = upstreams; len(upstreams) == 0 {
		o.Upstreams = Upstreams()
	}
	o.Proxy, o.Status = http.ProxyFromEnvironment, db.Status
	return recorder.NewProxy(o)
}

// Recording returns the options for recording into this database.
func (db *DB) Recording() recorder.Options {
	return recorder.Options{Spool: db.spool, Redact: db.redact, Log: db.log, Label: db.label,
		Find: dialect.UpstreamOf, OpensSockets: dialect.OpensSockets}
}

// Upstreams returns the well-known providers.
func Upstreams() []recorder.Upstream {
	var all []recorder.Upstream
	for _, p := range dialect.Providers() {
		if p.Name != "" {
			all = append(all, recorder.Upstream{Name: p.Name, URL: p.Base()})
		}
	}
	return all
}

// pollEvery is how often a wait looks again.
const pollEvery = 5 * time.Millisecond

// Flush waits until nothing is in flight and everything recorded is stored. An
// exchange is in flight until its answer is read to the end or closed.
func (db *DB) Flush(ctx context.Context) error {
	for db.left() > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollEvery):
		}
	}
	return nil
}

// left counts the exchanges that are in flight or wait in the spool.
func (db *DB) left() int {
	s := db.spool.Stats()
	return s.Backlog + s.InFlight
}

// Stored waits until the exchange with that id is stored, and returns it. Requests
// get an id from [recorder.WithID].
func (db *DB) Stored(ctx context.Context, id string) (*transcript.Exchange, error) {
	for {
		if rows := db.store.Load(); rows != nil {
			e, err := rows.Exchange(ctx, id)
			if !errors.Is(err, transcript.ErrNotFound) {
				return e, err
			}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pollEvery):
		}
	}
}
