package redact

import (
	"net/url"
	"strings"
)

// URL returns u with the credentials in its query and its user part replaced:
// "?key=[redacted]+fp:1a2b3c4d", which a query parser reads as Fingerprint. All other
// bytes stay as they are, whether u is a URL or not.
func (r *Redactor) URL(u string) string {
	u = r.userInfo(u)
	head, query, ok := strings.Cut(u, "?")
	if !ok {
		return u
	}
	query, fragment, hasFragment := strings.Cut(query, "#")
	var b strings.Builder
	b.WriteString(head)
	b.WriteByte('?')
	r.query(&b, query)
	if hasFragment {
		b.WriteByte('#')
		r.query(&b, fragment) // an implicit grant has its token there
	}
	return b.String()
}

func (r *Redactor) query(b *strings.Builder, query string) {
	for query != "" {
		end := strings.IndexAny(query, "&;")
		pair := query
		if end >= 0 {
			pair = query[:end]
		}
		name, value, ok := strings.Cut(pair, "=")
		if ok && value != "" && secretParameter(name) {
			if plain, err := url.QueryUnescape(value); err == nil {
				value = plain
			}
			b.WriteString(name + "=" + Mark + "+" + r.print(value))
		} else {
			b.WriteString(pair)
		}
		if end < 0 {
			return
		}
		b.WriteByte(query[end])
		query = query[end+1:]
	}
}

// secretParameter reports whether a query parameter carries a credential, by its name
// as the URL has it: ?key= of Google, ?sig= of Azure, X-Amz-Signature and similar
// ones of signed URLs, ?code= of OAuth.
func secretParameter(name string) bool {
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	n := strings.ToLower(name)
	switch n {
	case "key", "code", "sas", "auth", "ticket", "googleaccessid", "awsaccesskeyid":
		return true
	}
	return secretName(n)
}

// userInfo replaces the text between "://" and "@", anywhere in u.
func (r *Redactor) userInfo(u string) string {
	start := strings.Index(u, "://")
	if start < 0 {
		return u
	}
	start += len("://")
	end := strings.IndexAny(u[start:], "/?# ")
	if end < 0 {
		end = len(u) - start
	}
	at := strings.LastIndexByte(u[start:start+end], '@')
	if at < 0 {
		return u
	}
	return u[:start] + "redacted" + u[start+at:]
}
