package replay

import (
	"net"
	"net/url"
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

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
	switch {
	case !onThisMachine(u):
		return ""
	case r.Speaks() == transcript.Messages:
		return "ANTHROPIC_API_KEY"
	}
	return "OPENAI_API_KEY"
}

// Exposed reports whether the request would carry its key over a network in
// plain text.
func (r *Request) Exposed() bool {
	u, err := url.Parse(r.URL)
	return err == nil && u.Scheme == "http" && !onThisMachine(u)
}

// Local reports whether the request goes to a server on this machine.
func (r *Request) Local() bool {
	u, err := url.Parse(r.URL)
	return err == nil && onThisMachine(u)
}

func onThisMachine(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// Host returns the host that the request goes to, with its port.
func (r *Request) Host() string {
	u, err := url.Parse(r.URL)
	if err != nil {
		return "an address that cannot be read"
	}
	return u.Host
}
