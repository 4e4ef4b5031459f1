// Package web shows what is stored as pages: a list of exchanges and, for each
// of them, its transcript and its wire.
package web

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/retake-debugger/retake/transcript"
)

// Options say what is served and to whom.
type Options struct {
	Reader transcript.Reader
	// AllowHosts are Host names that are served besides loopback, without a port.
	AllowHosts []string
	// AllowOrigins are foreign origins (https://name:port) that may read.
	AllowOrigins []string
	// Token is asked for if it is not empty.
	Token string
	Log   *slog.Logger
	// Now is the clock; times are shown in its zone.
	Now func() time.Time
}

// New gives the handler that serves the pages.
func New(o Options) http.Handler { return http.NotFoundHandler() }
