package relay

import (
	"net/http"
	"net/textproto"
	"strings"
)

// hopHeaders belong to a connection and not to the message. Proxy-Authorization and
// Proxy-Authenticate are not among them: clients do not log in to this proxy.
var hopHeaders = map[string]bool{
	"Connection":        true,
	"Keep-Alive":        true,
	"Proxy-Connection":  true,
	"Te":                true,
	"Trailer":           true,
	"Transfer-Encoding": true,
	"Upgrade":           true,
}

// connectionNames returns the further names that a Connection header lists.
func connectionNames(h http.Header) []string {
	var names []string
	for _, v := range h["Connection"] {
		for name := range strings.SplitSeq(v, ",") {
			name = textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(name))
			if name != "" && name != "Close" && !hopHeaders[name] {
				names = append(names, name)
			}
		}
	}
	return names
}

// stripRequest removes from the header of a request what belongs to the connection.
func stripRequest(h http.Header) {
	trailers := false
	for _, v := range h["Te"] {
		trailers = trailers || strings.EqualFold(strings.TrimSpace(v), "trailers")
	}
	for _, name := range connectionNames(h) {
		delete(h, name)
	}
	for name := range hopHeaders {
		delete(h, name)
	}
	if trailers {
		h["Te"] = []string{"trailers"}
	}
	if _, ok := h["User-Agent"]; !ok {
		h["User-Agent"] = nil // or the transport adds its own
	}
}

// copyResponse copies the header of an answer. It stops the server from adding or
// dropping anything.
func copyResponse(dst http.Header, resp *http.Response) {
	for name, values := range resp.Header {
		if !hopHeaders[name] {
			dst[name] = values
		}
	}
	for _, name := range connectionNames(resp.Header) {
		delete(dst, name)
	}
	for _, name := range [...]string{"Content-Type", "Date"} { // or the server adds its own
		if _, ok := dst[name]; !ok {
			dst[name] = nil
		}
	}
	if resp.StatusCode == http.StatusNotModified {
		// The server drops these from a 304 unless their names are in lower case.
		for _, name := range [...]string{"Content-Type", "Content-Length"} {
			if v := dst[name]; v != nil {
				delete(dst, name)
				dst[strings.ToLower(name)] = v
			}
		}
	}
	for name := range resp.Trailer {
		dst.Add("Trailer", name)
	}
}

// copyTrailer copies the trailers that came after the body.
func copyTrailer(dst http.Header, resp *http.Response) {
	for name, values := range resp.Trailer {
		announced := false
		for _, n := range dst["Trailer"] {
			announced = announced || n == name
		}
		if !announced {
			name = http.TrailerPrefix + name
		}
		dst[name] = values
	}
}
