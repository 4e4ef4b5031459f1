package formats

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
)

// Request is a recorded request to be written as a program that sends it again.
type Request struct {
	Method string
	URL    string
	Header http.Header
	Body   []byte
	// Key is the placeholder in URL and Header for the credential; "" for none.
	Key string
	// Variable is the environment variable that holds the credential.
	Variable string
}

// headerLines returns the headers in order, without those of the connection. They ask
// for an uncompressed answer.
func (r *Request) headerLines() [][2]string {
	var list [][2]string
	for _, name := range sortedNames(r.Header) {
		if slices.Contains([]string{"Accept-Encoding", "Content-Length", "Host", "Connection", "Transfer-Encoding"}, http.CanonicalHeaderKey(name)) {
			continue
		}
		for _, v := range r.Header[name] {
			list = append(list, [2]string{name, v})
		}
	}
	return list
}

func (r *Request) has(name string) bool { return len(r.Header.Values(name)) > 0 }

// around splits a text at the credential.
func (r *Request) around(s string) (before, after string, ok bool) {
	if r.Key == "" {
		return s, "", false
	}
	return strings.Cut(s, r.Key)
}

// needsKey reports whether the request has a credential.
func (r *Request) needsKey() bool {
	if r.Key == "" {
		return false
	}
	for _, values := range r.Header {
		if slices.ContainsFunc(values, func(v string) bool { return strings.Contains(v, r.Key) }) {
			return true
		}
	}
	return strings.Contains(r.URL, r.Key)
}

func (r *Request) variable() string {
	if r.Variable == "" {
		return "API_KEY"
	}
	return r.Variable
}

// base64Lines returns bytes in base64, in lines of 76.
func base64Lines(b []byte) string {
	text := base64.StdEncoding.EncodeToString(b)
	var out strings.Builder
	for len(text) > 76 {
		out.WriteString(text[:76] + "\n")
		text = text[76:]
	}
	out.WriteString(text + "\n")
	return out.String()
}
