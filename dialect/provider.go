package dialect

import (
	"net/url"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/dialect/chat"
	"github.com/retake-debugger/retake/dialect/messages"
	"github.com/retake-debugger/retake/dialect/responses"
	"github.com/retake-debugger/retake/transcript"
)

// Provider is a public model API, or a model server on this machine.
type Provider struct {
	Name string // of its upstream
	URL  string // where its API begins; a version at its end may be there or not in what a client sends
	APIs []transcript.Dialect

	Host   string // its key is sent to this host and those below it alone
	KeyVar string // environment variable of the key, as its own SDK or documentation names it

	Paths   []string // where requests are found that name no upstream: prefixes that end at a slash or a colon
	Clients []Client

	Domain string // of all its hosts
	System string // its name in the conventions of OpenTelemetry
}

// Client is a variable with a base URL that SDKs and agents read.
type Client struct {
	Variable string
	Path     string // of the API below the host
	Usual    bool   // the first one to set
}

// Providers returns what is known of providers. Those without a name are no upstream
// by default. By which host a price is found is in pricing, which does not know this list.
func Providers() []Provider {
	openAI := []transcript.Dialect{chat.API.Name, responses.API.Name}
	all := []Provider{
		{Name: "openai", URL: "https://api.openai.com", Host: "api.openai.com", KeyVar: "OPENAI_API_KEY", Domain: "openai.com", System: "openai",
			Paths:   []string{"/v1/chat/completions", "/v1/completions", "/v1/responses", "/v1/embeddings", "/v1/models", "/v1/conversations", "/v1/realtime"},
			Clients: []Client{{"OPENAI_BASE_URL", "/v1", true}, {"OPENAI_API_BASE", "/v1", false}}},
		{Name: "anthropic", URL: "https://api.anthropic.com", Host: "api.anthropic.com", KeyVar: "ANTHROPIC_API_KEY", Domain: "anthropic.com", System: "anthropic",
			APIs: []transcript.Dialect{messages.API.Name}, Paths: []string{"/v1/messages"}, Clients: []Client{{"ANTHROPIC_BASE_URL", "", true}}},
		{Name: "gemini", URL: "https://generativelanguage.googleapis.com", Host: "generativelanguage.googleapis.com", KeyVar: "GEMINI_API_KEY",
			Domain: "generativelanguage.googleapis.com", System: "gcp.gemini",
			Paths: []string{"/v1beta/", "/v1alpha/"}, Clients: []Client{{"GOOGLE_GEMINI_BASE_URL", "", false}}},
		{Name: "openrouter", URL: "https://openrouter.ai/api/v1", Host: "openrouter.ai", KeyVar: "OPENROUTER_API_KEY"},
		{Name: "ollama", URL: "http://127.0.0.1:11434", Paths: []string{"/api/chat", "/api/generate", "/api/tags", "/api/embed"}, Clients: []Client{{"OLLAMA_HOST", "", false}}},
		{Name: "groq", URL: "https://api.groq.com/openai/v1", Host: "api.groq.com", KeyVar: "GROQ_API_KEY", Domain: "groq.com", System: "groq"},
		{Name: "deepseek", URL: "https://api.deepseek.com", Host: "api.deepseek.com", KeyVar: "DEEPSEEK_API_KEY", Domain: "deepseek.com", System: "deepseek"},
		{Name: "mistral", URL: "https://api.mistral.ai/v1", Host: "api.mistral.ai", KeyVar: "MISTRAL_API_KEY", Domain: "mistral.ai", System: "mistral_ai"},
		{Name: "xai", URL: "https://api.x.ai/v1", Host: "api.x.ai", KeyVar: "XAI_API_KEY", Domain: "x.ai", System: "x_ai"},
		{Name: "together", URL: "https://api.together.xyz/v1", Host: "api.together.xyz", KeyVar: "TOGETHER_API_KEY"},
		{Name: "fireworks", URL: "https://api.fireworks.ai/inference/v1", Host: "api.fireworks.ai", KeyVar: "FIREWORKS_API_KEY"},
		{Name: "cerebras", URL: "https://api.cerebras.ai/v1", Host: "api.cerebras.ai", KeyVar: "CEREBRAS_API_KEY"},
		{Name: "chatgpt", URL: "https://chatgpt.com"},
		{Name: "cohere", URL: "https://api.cohere.com", Domain: "cohere.com", System: "cohere"},
		{Name: "copilot", URL: "https://api.githubcopilot.com"},
		{Name: "deepinfra", URL: "https://api.deepinfra.com/v1"},
		{Name: "huggingface", URL: "https://router.huggingface.co/v1"},
		{Name: "lmstudio", URL: "http://127.0.0.1:1234"},
		{Name: "minimax", URL: "https://api.minimax.io"},
		{Name: "moonshot", URL: "https://api.moonshot.ai/v1"},
		{Name: "nvidia", URL: "https://integrate.api.nvidia.com/v1"},
		{Name: "perplexity", URL: "https://api.perplexity.ai", Domain: "perplexity.ai", System: "perplexity"},
		{Name: "sambanova", URL: "https://api.sambanova.ai/v1"},
		{Name: "vllm", URL: "http://127.0.0.1:8000"},
		{Name: "zai", URL: "https://api.z.ai/api/paas/v4"},

		{Host: "openai.azure.com", KeyVar: "AZURE_OPENAI_API_KEY", Domain: "openai.azure.com", System: "azure.ai.openai"},
		{Domain: "aiplatform.googleapis.com", System: "gcp.vertex_ai"},
		{Domain: "amazonaws.com", System: "aws.bedrock"},
	}
	for i := range all {
		if all[i].APIs == nil {
			all[i].APIs = openAI // what most of them speak
		}
	}
	return all
}

// ProviderNamed returns the provider whose upstream has that name, nil if there is
// none.
func ProviderNamed(name string) *Provider {
	if name == "" {
		return nil
	}
	return providerWhere(func(p *Provider) bool { return p.Name == name })
}

// ProviderAt returns the provider that a host belongs to, nil if that is unknown.
func ProviderAt(host string) *Provider {
	return providerWhere(func(p *Provider) bool { return isBelow(host, p.Domain) })
}

// KeyVariable returns the environment variable of the key for a host; "" if the host
// is none whose key is known.
func KeyVariable(host string) string {
	if p := providerWhere(func(p *Provider) bool { return isBelow(host, p.Host) }); p != nil {
		return p.KeyVar
	}
	return ""
}

// HomeOf returns the provider whose own API that is; of an unknown one that whose API
// most servers speak.
func HomeOf(d transcript.Dialect) *Provider {
	if a := APIs.Of(d); a != nil {
		return ProviderNamed(a.Home)
	}
	return HomeOf(APIs[0].Name)
}

// URLOf returns where an API is spoken if nobody says otherwise.
func URLOf(d transcript.Dialect) string { return HomeOf(d).URL + "/v1" + Of(d).Path }

// IsHome reports whether a host is that of a provider with an API of its own.
func IsHome(host string) bool {
	return slices.ContainsFunc(APIs, func(a *API) bool { return ProviderNamed(a.Home).Host == host })
}

func providerWhere(is func(*Provider) bool) *Provider {
	all := Providers()
	if i := slices.IndexFunc(all, func(p Provider) bool { return is(&p) }); i >= 0 {
		return &all[i]
	}
	return nil
}

func isBelow(host, name string) bool {
	return name != "" && (host == name || strings.HasSuffix(host, "."+name))
}

// Base is the parsed URL.
func (p *Provider) Base() *url.URL {
	u, err := url.Parse(p.URL)
	if err != nil {
		panic(err) // the table is wrong
	}
	return u
}

// Speaks returns the API in which to speak to a provider: d if it has that, else the
// one that it prefers. What is in no known API stays so.
func (p *Provider) Speaks(d transcript.Dialect) transcript.Dialect {
	if APIs.Of(d) == nil || slices.Contains(p.APIs, d) {
		return d
	}
	return p.APIs[0]
}

// UpstreamOf returns the name of the provider whose API a path belongs to, "" if
// that is unknown.
func UpstreamOf(path string) string {
	p := providerWhere(func(p *Provider) bool {
		return slices.ContainsFunc(p.Paths, func(prefix string) bool {
			rest, ok := strings.CutPrefix(path, prefix)
			return ok && (rest == "" || rest[0] == '/' || rest[0] == ':' || strings.HasSuffix(prefix, "/"))
		})
	})
	if p == nil {
		return ""
	}
	return p.Name
}

// OpensSockets reports whether clients open WebSockets to models at a path. They fall
// back to HTTP when refused.
func OpensSockets(path string) bool {
	path = strings.TrimSuffix(path, "/")
	return strings.HasSuffix(path, "/realtime") || slices.ContainsFunc(APIs, func(a *API) bool { return a.Sockets && strings.HasSuffix(path, a.Path) })
}
