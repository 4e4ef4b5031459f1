// Package recorder captures model traffic without changing or delaying it.
//
// It has three faces with the same Options: a Proxy relays requests to configured
// upstreams, Middleware wraps an http.Handler, and NewTransport wraps an
// http.RoundTripper. What passes is written to a spool (recorder/spool). How a
// request is relayed is in recorder/relay. The package knows no API and no database.
package recorder
