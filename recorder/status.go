package recorder

import (
	"encoding/json"
	"maps"
	"net/http"
)

// own answers the recorder's own paths.
func (p *Proxy) own(w http.ResponseWriter, path string) {
	if path != "/_retake/status" {
		apologise(w, http.StatusNotFound, apology{Type: "not_found", Message: "the recorder has /_retake/health and /_retake/status"})
		return
	}
	p.mu.Lock()
	status := map[string]any{"upstreams": p.routes.list, "in_flight": len(p.running)}
	p.mu.Unlock()
	if p.opts.Spool != nil {
		status["spool"] = p.opts.Spool.Stats()
	}
	if p.opts.Status != nil {
		maps.Copy(status, p.opts.Status())
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(status)
}
