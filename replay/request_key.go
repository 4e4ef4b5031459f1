package replay

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// keyPlace says where a request carries its credential. Empty fields: nowhere.
type keyPlace struct {
	header string
	scheme string // what stands before the key, e.g. "Bearer "
	query  string
}

// keyHeaders carry API keys. Of several the first one that was recorded gets
// the key: gateways put their own credential into Authorization beside the
// provider's in its own header.
var keyHeaders = []string{"X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Authorization"}

// NeedsKey reports whether the recorded request carried a credential, which has
// to be given again.
func (r *Request) NeedsKey() bool { return r.key.header != "" || r.key.query != "" }

// SetKey puts a credential where the recorded request had one.
func (r *Request) SetKey(key string) error {
	if r.key.header != "" {
		r.Header.Set(r.key.header, r.key.scheme+key)
	}
	if r.key.query == "" {
		return nil
	}
	// The rest of the query stays as it was written.
	start := strings.Index(r.URL, r.key.query+"=")
	if start < 0 {
		return fmt.Errorf("set key: no %s in the url", r.key.query)
	}
	start += len(r.key.query) + 1
	end := start + strings.IndexAny(r.URL[start:]+"&", "&#")
	r.URL = r.URL[:start] + url.QueryEscape(key) + r.URL[end:]
	return nil
}

// ErrNoVariable means that no key is known for the host that a request goes to, or
// that it would be sent in plain text, so that a user has to name one.
var ErrNoVariable = errors.New("no key is known for the host, or the way there is not encrypted")

// ErrNoKey means that the variable of a key is not set.
var ErrNoKey = errors.New("no key")

// Key finds the key of a request in an environment: that of the named variable, or
// of the host's own if variable is "". Both results are "" if it needs none.
func (r *Request) Key(getenv func(string) string, variable string) (name, key string, err error) {
	if !r.NeedsKey() {
		return "", "", nil
	}
	if variable == "" && !r.Exposed() {
		variable = r.KeyVariable()
	}
	if variable == "" {
		return "", "", ErrNoVariable
	}
	if key = getenv(variable); key == "" {
		return variable, "", ErrNoKey
	}
	return variable, key, nil
}

// KeyError says that a request has no key.
type KeyError struct {
	Host     string
	Variable string // that is not set; "" if none is known
	Err      error  // ErrNoVariable or ErrNoKey
}

func (e *KeyError) Error() string {
	return "key for " + e.Host + ": " + e.Err.Error()
}

// Unwrap returns the reason.
func (e *KeyError) Unwrap() error { return e.Err }
