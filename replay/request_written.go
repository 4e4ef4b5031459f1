package replay

import "net/http"

// Written is a request to be written down instead of sent: Key takes the place of the
// credential, "" if there is none.
type Written struct {
	Method   string
	URL      string
	Header   http.Header
	Body     []byte
	Key      string
	Variable string
}

// Write returns the request with a placeholder for its key.
func (r *Request) Write() (*Written, error) {
	w := &Written{Method: r.Method, Body: r.Body, Variable: r.KeyVariable()}
	if r.NeedsKey() {
		w.Key = "KEY-FROM-THE-ENVIRONMENT"
		if err := r.SetKey(w.Key); err != nil {
			return nil, err
		}
	}
	w.URL, w.Header = r.URL, r.Header
	return w, nil
}
