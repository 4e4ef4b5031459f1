package replay

import (
	"net/url"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

// keyPlace says where a request carries its credential. Empty fields: nowhere.
type keyPlace struct {
	header string
	scheme string // what stands before the key, e.g. "Bearer "
	query  string
}

// keyHeader tells whether a header carries an API key.
func keyHeader(canonical string) bool {
	return slices.Contains([]string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key"}, canonical)
}

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
	u, err := url.Parse(r.URL)
	if err != nil {
		return err
	}
	q := u.Query()
	q.Set(r.key.query, key)
	u.RawQuery = q.Encode()
	r.URL = u.String()
	return nil
}

// keyVariables names the environment variable of each host's key, as its own
// SDK or documentation does.
var keyVariables = []struct{ host, variable string }{
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

// KeyVariable names the environment variable that should hold the key for
// this request.
func (r *Request) KeyVariable() string {
	if u, err := url.Parse(r.URL); err == nil {
		for _, k := range keyVariables {
			if h := u.Hostname(); h == k.host || strings.HasSuffix(h, "."+k.host) {
				return k.variable
			}
		}
	}
	if r.Origin.Dialect == transcript.Messages {
		return "ANTHROPIC_API_KEY"
	}
	return "OPENAI_API_KEY"
}
