package redact

import "strings"

// SecretHeader reports whether the header of that name, in any case, carries a
// credential. It knows the names of many vendors, and any name that means a token,
// secret, key or password. In doubt it says yes.
func SecretHeader(name string) bool {
	n := strings.ToLower(name)
	if secretHeaders[n] || strings.HasPrefix(n, "cf-access-") {
		return true
	}
	return secretName(n)
}

// secretHeaders are names that carry a credential although their words do not say so.
var secretHeaders = map[string]bool{
	"x-amzn-oidc-data":     true,
	"x-amzn-oidc-identity": true,
	"x-goog-iap-assertion": true,
	"x-api":                true,
	"x-goog-api-client-id": true,
	"x-client-assertion":   true,
}

// secretParts mean a credential anywhere in a name, its separators removed.
var secretParts = []string{
	"secret", "password", "passwd", "passphrase", "apikey", "accesskey", "privatekey", "subscriptionkey", "signingkey",
	"credential", "authorization", "cookie", "jwt", "bearer",
}

// publicKeys are the words before "key" that mean no credential.
var publicKeys = map[string]bool{
	"idempotency": true, "websocket": true, "cache": true, "surrogate": true, "partition": true, "routing": true,
	"public": true, "sort": true, "affinity": true, "order": true,
}

// publicTokens are the words around "token" that mean no credential: a position in a
// listing, or a number of tokens.
var publicTokens = map[string]bool{
	"page": true, "next": true, "continuation": true, "sync": true, "cursor": true, "prev": true, "previous": true,
	"count": true, "limit": true, "usage": true, "budget": true, "ratelimit": true, "max": true, "type": true,
}

// secretName reports whether a lower-case name of a header or a query parameter means
// a credential.
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
