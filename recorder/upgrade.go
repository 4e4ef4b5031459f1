package recorder

import (
	"net/http"
	"strings"
)

// upgrade gives the protocol that a request wants to change to, or "".
func upgrade(h http.Header) string {
	for _, v := range h["Connection"] {
		for token := range strings.SplitSeq(v, ",") {
			if strings.EqualFold(strings.TrimSpace(token), "upgrade") {
				return h.Get("Upgrade")
			}
		}
	}
	return ""
}

func (p *Proxy) upgrade(w http.ResponseWriter, r *http.Request, up *upstream, path string) {
	apologise(w, http.StatusUpgradeRequired, apology{Type: "websocket_refused", Message: "use HTTP"})
}
