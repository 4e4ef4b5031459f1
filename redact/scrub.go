package redact

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Scrubber replaces the secrets in texts and bodies by placeholders: keys and tokens
// of known vendors, private keys, texts after Bearer, values of names that mean a
// credential, passwords in URLs, e-mail addresses, and what a user's own rules match.
// Equal secrets get equal placeholders. It is safe for concurrent use.
type Scrubber struct {
	rules      []rule
	keep       []*regexp.Regexp
	keepEmails bool

	key []byte // placeholders are keyed hashes; nil: they are numbered

	mu     sync.Mutex
	clean  seen              // long texts without secrets; histories are resent at every step
	names  map[string]string // secret → placeholder
	kinds  map[string]int    // how many of a kind there are
	counts map[string]*Redaction
}

// Redaction reports a secret that was found, without the secret.
type Redaction struct {
	Kind        string `json:"kind"`
	Placeholder string `json:"placeholder"`
	Count       int    `json:"count"` // times it was replaced
}

const placeholderStart = "[redacted:"

// NewScrubber returns a Scrubber with a user's own rules, which may be nil.
func NewScrubber(own *Rules) *Scrubber {
	s := &Scrubber{rules: vendorRules(), clean: newSeen(), names: map[string]string{}, kinds: map[string]int{}, counts: map[string]*Redaction{}}
	if own != nil {
		s.rules = append(slices.Clone(own.rules), s.rules...)
		s.keep, s.keepEmails = own.keep, own.keepEmails
	}
	return s
}

// Keyed makes each placeholder a keyed hash of its secret,
// "[redacted:openai:1a2b3c4d5e]", for a program that runs forever: nothing is
// remembered, so there is no report and no vault, and the same salt makes the same
// placeholders. Call it before the first text.
func (s *Scrubber) Keyed(salt []byte) {
	key := sha256.Sum256(append([]byte("placeholder\x00"), salt...))
	s.key = key[:]
}

// longText is the length from which it is cheaper to remember a text than to search
// it again.
const longText = 64

// Text returns a text with its secrets replaced.
func (s *Scrubber) Text(text string) string {
	found := s.look(text)
	if len(found) == 0 {
		return text
	}
	var out strings.Builder
	at := 0
	for _, f := range found {
		out.WriteString(text[at:f.Start])
		out.WriteString(s.placeholder(f.Kind, text[f.Start:f.End]))
		at = f.End
	}
	out.WriteString(text[at:])
	return out.String()
}

// look is find with a memory of long texts without secrets.
func (s *Scrubber) look(text string) []Secret {
	if len(text) < 8 {
		return nil
	}
	if len(text) < longText {
		return s.find(text)
	}
	hash := s.clean.hash(text)
	s.mu.Lock()
	clean := s.clean.has(hash)
	s.mu.Unlock()
	if clean {
		return nil
	}
	found := s.find(text)
	if len(found) == 0 {
		s.mu.Lock()
		s.clean.add(hash)
		s.mu.Unlock()
	}
	return found
}

// placeholder returns "[redacted:openai:1]".
func (s *Scrubber) placeholder(kind, secret string) string {
	if s.key != nil {
		h := hmac.New(sha256.New, s.key)
		h.Write([]byte(secret))
		return fmt.Sprintf("%s%s:%x]", placeholderStart, kind, h.Sum(nil)[:5])
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	name, ok := s.names[secret]
	if !ok {
		s.kinds[kind]++
		name = fmt.Sprintf("%s%s:%d]", placeholderStart, kind, s.kinds[kind])
		s.names[secret] = name
	}
	r := s.counts[name]
	if r == nil {
		r = &Redaction{Kind: kind, Placeholder: name}
		s.counts[name] = r
	}
	r.Count++
	return name
}

// Report returns what was replaced, by kind.
func (s *Scrubber) Report() []Redaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Redaction, 0, len(s.counts))
	for _, r := range s.counts {
		list = append(list, *r)
	}
	slices.SortFunc(list, func(a, b Redaction) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(len(a.Placeholder), len(b.Placeholder)), cmp.Compare(a.Placeholder, b.Placeholder))
	})
	return list
}
