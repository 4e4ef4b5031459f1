package redact

import "strings"

// SecretHeader tells whether the header of that name, in any case, carries a
// credential. It knows the names of many vendors, and any name that speaks of
// a token, secret, key or password; it would rather hide one too many.
func SecretHeader(name string) bool {
	n := strings.ToLower(name)
	if secretHeaders[n] || strings.HasPrefix(n, "cf-access-") {
		return true
	}
	return secretName(n)
}

// secretHeaders are names whose words do not give them away.
var secretHeaders = map[string]bool{
	"x-amzn-oidc-data":     true,
	"x-amzn-oidc-identity": true,
	"x-goog-iap-assertion": true,
	"x-api":                true,
	"x-goog-api-client-id": true,
	"x-client-assertion":   true,
}

// secretParts give a name away wherever they stand in it, its separators left out.
var secretParts = []string{
	"secret", "password", "passwd", "passphrase", "apikey", "accesskey", "privatekey", "subscriptionkey", "signingkey",
	"credential", "authorization", "cookie", "jwt", "bearer",
}

// publicKeys are the words before "key" that make it no credential.
var publicKeys = map[string]bool{
	"idempotency": true, "websocket": true, "cache": true, "surrogate": true, "partition": true, "routing": true,
	"public": true, "sort": true, "affinity": true, "order": true,
}

// publicTokens are the words around "token" that make it no credential: the
// place in a listing, or a number of tokens.
var publicTokens = map[string]bool{
	"page": true, "next": true, "continuation": true, "sync": true, "cursor": true, "prev": true, "previous": true,
	"count": true, "limit": true, "usage": true, "budget": true, "ratelimit": true, "max": true, "type": true,
}

// secretName tells whether a lower-case name of a header or of a query
// parameter speaks of a credential.
func secretName(n string) bool {
	squeezed := strings.Map(func(c rune) rune {
		if c == '-' || c == '_' || c == '.' {
			return -1
		}
		return c
	}, n)
	for _, part := range secretParts {
		if strings.Contains(squeezed, part) {
			return true
		}
	}
	words := strings.FieldsFunc(n, func(c rune) bool { return c == '-' || c == '_' || c == '.' || c == '[' || c == ']' })
	for i, w := range words {
		before, after, last := "", "", i == len(words)-1
		if i > 0 {
			before = words[i-1]
		}
		if !last {
			after = words[i+1]
		}
		switch {
		case w == "key" && last && !publicKeys[before] && before != "":
			return true
		case strings.HasSuffix(w, "token") && !publicTokens[strings.TrimSuffix(w, "token")] && !publicTokens[before] && !publicTokens[after]:
			return true
		case (w == "auth" || w == "signature" || w == "sig" || w == "pwd") && last:
			return true
		}
	}
	return false
}
