package replay

import (
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/retake-debugger/retake/transcript"
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

// NeedsKey tells whether the recorded request carried a credential, which has
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

// keyVariables names the environment variable of each host's key, as its own
// SDK or documentation does.
var keyVariables = []struct{ host, variable string }{
	{"api.openai.com", "OPENAI_API_KEY"},
	{"openrouter.ai", "OPENROUTER_API_KEY"},
	{"api.groq.com", "GROQ_API_KEY"},
	{"api.deepseek.com", "DEEPSEEK_API_KEY"},
	{"api.mistral.ai", "MISTRAL_API_KEY"},
	{"api.x.ai", "XAI_API_KEY"},
	{"api.together.xyz", "TOGETHER_API_KEY"},
	{"api.fireworks.ai", "FIREWORKS_API_KEY"},
	{"api.cerebras.ai", "CEREBRAS_API_KEY"},
	{"openai.azure.com", "AZURE_OPENAI_API_KEY"},
	{"generativelanguage.googleapis.com", "GEMINI_API_KEY"},
	{"api.anthropic.com", "ANTHROPIC_API_KEY"},
}

// KeyVariable names the environment variable that holds the key for the host
// that the request goes to; "" if the host is none whose key is known, since a
// recording must not lead a key astray. A server on this machine gets the key
// of the API that it speaks.
func (r *Request) KeyVariable() string {
	u, err := url.Parse(r.URL)
	if err != nil {
		return ""
	}
	host := u.Hostname()
	for _, k := range keyVariables {
		if host == k.host || strings.HasSuffix(host, "."+k.host) {
			return k.variable
		}
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return ""
	}
	if r.Speaks() == transcript.Messages {
		return "ANTHROPIC_API_KEY"
	}
	return "OPENAI_API_KEY"
}

// Exposed tells whether the request would carry its key over a network in
// plain text.
func (r *Request) Exposed() bool {
	u, err := url.Parse(r.URL)
	if err != nil || u.Scheme != "http" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback())
}
