package recorder

import "net/http"

// Middleware makes a handler that records what goes through next.
func Middleware(next http.Handler, opts Options) http.Handler { return next }
