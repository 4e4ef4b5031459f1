// Package redact recognises credentials in headers and URLs and replaces them
// by a fingerprint, so that they can be told apart without being kept.
//
// A credential is a header or query value that opens a door: an API key, a
// bearer token, a cookie, a signature. A fingerprint is a short keyed hash of
// one: equal credentials have equal fingerprints within one store, because the
// store's salt is the key, and say nothing outside it.
package redact

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
)

// Mark stands in for a credential; a fingerprint follows it.
const Mark = "[redacted]"

// Redactor replaces credentials by their fingerprints. It is safe for use by
// many goroutines.
type Redactor struct {
	key   []byte
	known atomic.Pointer[map[string]bool] // SecretHeader of names seen, which are few
	mu    sync.Mutex
}

// New makes a Redactor whose fingerprints can be compared with those of others
// made with the same salt.
func New(salt []byte) *Redactor {
	key := sha256.Sum256(salt)
	r := &Redactor{key: key[:]}
	r.known.Store(&map[string]bool{})
	return r
}

// Fingerprint gives "[redacted] fp:1a2b3c4d" for a credential.
func (r *Redactor) Fingerprint(secret string) string {
	return Mark + " " + r.print(secret)
}

// print hashes the key and the secret. No more than 32 bits of the hash are
// shown, so nothing can be appended to it that would show.
func (r *Redactor) print(secret string) string {
	sum := sha256.Sum256(append(append(make([]byte, 0, 256), r.key...), secret...))
	return "fp:" + hex.EncodeToString(sum[:4])
}

// The names that are remembered.
const (
	maxNames      = 1000
	maxNameLength = 100
)

// secret is SecretHeader, remembered: the same few names come with each request.
func (r *Redactor) secret(name string) bool {
	if hides, ok := (*r.known.Load())[name]; ok {
		return hides
	}
	hides := SecretHeader(name)
	if len(name) > maxNameLength {
		return hides
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	known := *r.known.Load()
	if len(known) < maxNames {
		known = maps.Clone(known)
		known[strings.Clone(name)] = hides
		r.known.Store(&known)
	}
	return hides
}

// Header gives a copy of h in which every credential is replaced by its
// fingerprint (see Value).
func (r *Redactor) Header(h map[string][]string) map[string][]string {
	out := make(map[string][]string, len(h))
	for name, values := range h {
		safe := make([]string, len(values))
		for i, v := range values {
			safe[i] = r.Value(name, v)
		}
		out[name] = safe
	}
	return out
}

// Value gives the value of one header. If the header of that name carries a
// credential it is a fingerprint, before which the word of an authentication
// scheme ("Bearer") stays. In other values that hold a URL, its credentials
// are replaced.
func (r *Redactor) Value(name, value string) string {
	if value == "" {
		return value
	}
	if !r.secret(name) {
		if strings.Contains(value, "://") || strings.Contains(value, "?") {
			return r.URL(value)
		}
		return value
	}
	if scheme, rest, ok := strings.Cut(value, " "); ok && schemes[strings.ToLower(scheme)] && strings.TrimSpace(rest) != "" {
		return scheme + " " + r.Fingerprint(strings.TrimSpace(rest))
	}
	return r.Fingerprint(value)
}

// schemes are the words that may stay in front of a credential: those of the
// IANA registry and of model APIs. Any other first word may be a part of it.
var schemes = map[string]bool{
	"apikey": true, "api-key": true, "aws4-hmac-sha256": true, "aws4-ecdsa-p256-sha256": true, "basic": true, "bearer": true,
	"digest": true, "dpop": true, "gnap": true, "hawk": true, "hoba": true, "key": true, "mutual": true, "negotiate": true,
	"ntlm": true, "oauth": true, "privatetoken": true, "scram-sha-1": true, "scram-sha-256": true, "sharedkey": true,
	"sso-key": true, "token": true, "vapid": true,
}
