package redact

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/retake-debugger/retake/rawjson"
)

// Vault maps placeholders to their secrets, so that a redaction can be undone.
type Vault map[string]string

// Vault returns the secrets that were replaced.
func (s *Scrubber) Vault() Vault {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := make(Vault, len(s.names))
	for secret, name := range s.names {
		v[name] = secret
	}
	return v
}

// Reuse keeps the placeholders of an earlier vault.
func (s *Scrubber) Reuse(v Vault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, secret := range v {
		s.names[secret] = name
		kind, number, ok := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(name, placeholderStart), "]"), ":")
		if n, err := strconv.Atoi(number); ok && err == nil {
			s.kinds[kind] = max(s.kinds[kind], n)
		}
	}
}

// Restore puts the secrets back into a text. In JSON, a secret is written as part of
// a string.
func (v Vault) Restore(text string) (string, error) {
	inJSON := rawjson.Valid([]byte(text))
	if !inJSON { // lines of JSON
		first, _, _ := strings.Cut(text, "\n")
		inJSON = rawjson.Valid([]byte(first)) && strings.HasPrefix(first, "{")
	}
	pairs := make([]string, 0, 2*len(v))
	for name, secret := range v {
		if inJSON {
			quoted, err := json.Marshal(secret)
			if err != nil {
				return "", fmt.Errorf("restore %s: %w", name, err)
			}
			secret = string(quoted[1 : len(quoted)-1])
		}
		pairs = append(pairs, name, secret)
	}
	return strings.NewReplacer(pairs...).Replace(text), nil
}
