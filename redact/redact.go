// Package redact removes secrets, in two ways.
//
// A Redactor recognises credentials in headers (names.go) and URLs and replaces each by a
// fingerprint, so that they can be distinguished without being stored. A recording always
// goes through it, before anything is written (recorder/spool).
//
// A Scrubber replaces what looks like a secret in texts and bodies, if a user asks for that:
// when something is recorded or exported.
//
// A credential is a header or query value that gives access: an API key, a bearer
// token, a cookie, a signature. A fingerprint is a short keyed hash of a credential.
// The key is the salt of the store: equal credentials have equal fingerprints within
// one store, and a fingerprint says nothing outside it.
package redact

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
)

// Mark replaces a credential. A fingerprint follows it.
const Mark = "[redacted]"

// Redactor replaces credentials by their fingerprints. It is safe for concurrent use.
type Redactor struct {
	key   []byte
	known atomic.Pointer[map[string]bool] // results of SecretHeader
	mu    sync.Mutex
}

// New returns a Redactor. Redactors with the same salt make the same fingerprints.
func New(salt []byte) *Redactor {
	key := sha256.Sum256(salt)
	r := &Redactor{key: key[:]}
	r.known.Store(&map[string]bool{})
	return r
}

// Fingerprint returns "[redacted] fp:1a2b3c4d" for a credential.
func (r *Redactor) Fingerprint(secret string) string {
	return Mark + " " + r.print(secret)
}

// print hashes the key and the secret. It shows only 32 bits of the hash, so that the
// hash cannot be extended.
func (r *Redactor) print(secret string) string {
	sum := sha256.Sum256(append(append(make([]byte, 0, 256), r.key...), secret...))
	return "fp:" + hex.EncodeToString(sum[:4])
}

// Limits on the remembered names.
const (
	maxNames      = 1000
	maxNameLength = 100
)

// secret is SecretHeader with a memory: every request has the same few names.
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

// Header returns a copy of h with every credential replaced by its fingerprint (see
// Value).
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

// Value returns the redacted value of a header. If the header carries a credential,
// the value becomes a fingerprint, after the word of an authentication scheme
// ("Bearer") if there is one. In any other value, the credentials of URLs are
// replaced.
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

// schemes are the words that may stay before a credential: those of the IANA registry
// and of model APIs. Any other first word may be part of the credential.
var schemes = map[string]bool{
	"apikey": true, "api-key": true, "aws4-hmac-sha256": true, "aws4-ecdsa-p256-sha256": true, "basic": true, "bearer": true,
	"digest": true, "dpop": true, "gnap": true, "hawk": true, "hoba": true, "key": true, "mutual": true, "negotiate": true,
	"ntlm": true, "oauth": true, "privatetoken": true, "scram-sha-1": true, "scram-sha-256": true, "sharedkey": true,
	"sso-key": true, "token": true, "vapid": true,
}
