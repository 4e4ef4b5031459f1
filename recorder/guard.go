package recorder

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/retake-debugger/retake/recorder/relay"
)

// Guard lets only those use a handler who may use a Proxy with the same options, by
// Host, Origin and token. The handler gets the path without the token.
func Guard(opts Options, next http.Handler) http.Handler {
	a := newAccess(&opts)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if why := a.refuse(r); why != "" {
			relay.WriteError(w, http.StatusForbidden, relay.ErrorReply{Type: "forbidden", Message: why})
			return
		}
		raw := rawPath(r)
		path, admitted := a.admit(r, raw)
		if !admitted && path != "/_retake/health" {
			relay.WriteError(w, http.StatusForbidden, relay.ErrorReply{Type: "forbidden", Message: "needs the token, in " + tokenHeader + " or as base path " + tokenPath + "TOKEN"})
			return
		}
		if path != raw {
			own := *r
			own.RequestURI = path + strings.TrimPrefix(r.RequestURI, raw)
			u, err := url.ParseRequestURI(own.RequestURI)
			if err != nil {
				relay.WriteError(w, http.StatusBadRequest, relay.ErrorReply{Type: "bad_request", Message: "the path after the token is not a path"})
				return
			}
			own.URL = u
			r = &own
		}
		next.ServeHTTP(w, r)
	})
}
