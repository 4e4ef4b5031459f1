package recorder

import (
	"encoding/json"
	"maps"
	"net/http"
)

// own answers the recorder's own paths.
func (p *Proxy) own(w http.ResponseWriter, r *http.Request, path string) {
	switch path {
	case "/_retake/status":
		p.status(w)
	case "/_retake/pause":
		p.pause(w, r, true)
	case "/_retake/resume":
		p.pause(w, r, false)
	default:
		apologise(w, http.StatusNotFound, apology{Type: "not_found", Message: "the recorder has /_retake/health, /_retake/status, /_retake/pause and /_retake/resume"})
	}
}

func (p *Proxy) status(w http.ResponseWriter) {
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
	_ = json.NewEncoder(w).Encode(status)
}
