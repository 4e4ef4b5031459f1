package recorder

import (
	"encoding/json"
	"maps"
	"net/http"

	"github.com/retake-debugger/retake/recorder/relay"
)

// own answers a request to one of the recorder's own paths.
func (p *Proxy) own(w http.ResponseWriter, r *http.Request, path string) {
	switch path {
	case "/_retake/status":
		p.status(w)
	case "/_retake/pause":
		p.pause(w, r, true)
	case "/_retake/resume":
		p.pause(w, r, false)
	default:
		relay.WriteError(w, http.StatusNotFound, relay.ErrorReply{Type: "not_found", Message: "the recorder has /_retake/health, /_retake/status, /_retake/pause and /_retake/resume"})
	}
}

func (p *Proxy) status(w http.ResponseWriter) {
	status := map[string]any{"upstreams": p.routes.list, "in_flight": p.relay.InFlight()}
	if p.opts.Spool != nil {
		status["spool"] = p.opts.Spool.Stats()
	}
	if p.opts.Status != nil {
		maps.Copy(status, p.opts.Status())
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(status)
}

// pause answers POST /_retake/pause and /_retake/resume.
func (p *Proxy) pause(w http.ResponseWriter, r *http.Request, pause bool) {
	switch {
	case r.Method != http.MethodPost:
		relay.WriteError(w, http.StatusMethodNotAllowed, relay.ErrorReply{Type: "method_not_allowed", Message: "use POST"})
	case p.opts.Spool == nil:
		relay.WriteError(w, http.StatusConflict, relay.ErrorReply{Type: "not_recording", Message: "nothing is recorded"})
	default:
		p.opts.Spool.Pause(pause)
		p.status(w)
	}
}
