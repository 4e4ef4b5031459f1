package recorder

import (
	"net/url"
	"strings"
)

// provider is a public model API, or a model server on this machine.
type provider struct{ name, url string }

// providers are there by name when no upstream is configured. A base URL that
// ends in a version takes requests with and without that version (joinPath),
// so that either habit of a client's base URL works.
var providers = []provider{
	{"openai", "https://api.openai.com"},
	{"anthropic", "https://api.anthropic.com"},
	{"gemini", "https://generativelanguage.googleapis.com"},
	{"openrouter", "https://openrouter.ai/api/v1"},
	{"ollama", "http://127.0.0.1:11434"},
	{"groq", "https://api.groq.com/openai/v1"},
	{"deepseek", "https://api.deepseek.com"},
	{"mistral", "https://api.mistral.ai/v1"},
	{"xai", "https://api.x.ai/v1"},
	{"together", "https://api.together.xyz/v1"},
	{"fireworks", "https://api.fireworks.ai/inference/v1"},
	{"cerebras", "https://api.cerebras.ai/v1"},
	{"chatgpt", "https://chatgpt.com"},
	{"cohere", "https://api.cohere.com"},
	{"copilot", "https://api.githubcopilot.com"},
	{"deepinfra", "https://api.deepinfra.com/v1"},
	{"huggingface", "https://router.huggingface.co/v1"},
	{"lmstudio", "http://127.0.0.1:1234"},
	{"minimax", "https://api.minimax.io"},
	{"moonshot", "https://api.moonshot.ai/v1"},
	{"nvidia", "https://integrate.api.nvidia.com/v1"},
	{"perplexity", "https://api.perplexity.ai"},
	{"sambanova", "https://api.sambanova.ai/v1"},
	{"vllm", "http://127.0.0.1:8000"},
	{"zai", "https://api.z.ai/api/paas/v4"},
}

// wellKnown gives the provider whose API a path without a name belongs to.
func wellKnown(path string) string {
	for _, k := range [...]struct{ prefix, provider string }{
		{"/v1/chat/completions", "openai"},
		{"/v1/completions", "openai"},
		{"/v1/responses", "openai"},
		{"/v1/embeddings", "openai"},
		{"/v1/models", "openai"},
		{"/v1/conversations", "openai"},
		{"/v1/realtime", "openai"},
		{"/v1/messages", "anthropic"},
		{"/v1beta/", "gemini"},
		{"/v1alpha/", "gemini"},
		{"/api/chat", "ollama"},
		{"/api/generate", "ollama"},
		{"/api/tags", "ollama"},
		{"/api/embed", "ollama"},
	} {
		rest, ok := strings.CutPrefix(path, k.prefix)
		if ok && (rest == "" || rest[0] == '/' || rest[0] == ':' || strings.HasSuffix(k.prefix, "/")) {
			return k.provider
		}
	}
	return ""
}

// webSocketPath tells whether clients open WebSockets to models there. They
// fall back to HTTP when refused.
func webSocketPath(path string) bool {
	for _, suffix := range [...]string{"/responses", "/realtime"} {
		if strings.HasSuffix(strings.TrimSuffix(path, "/"), suffix) {
			return true
		}
	}
	return false
}

// Providers gives the well-known providers: the upstreams of a Proxy for which
// none are configured.
func Providers() []Upstream {
	all := make([]Upstream, 0, len(providers))
	for _, p := range providers {
		u, err := url.Parse(p.url)
		if err != nil {
			panic(err) // the table is wrong
		}
		all = append(all, Upstream{p.name, u})
	}
	return all
}
