package pricing

import (
	_ "embed"
	"net/url"
	"strings"
)

// catalog is the built-in prices by provider and model.
type catalog struct {
	endpoints []endpoint
	models    map[string]map[string]listed // provider → model, in lower case
}

// listed is a model's line in the catalog.
type listed struct{ provider, model, input, output string }

func (l listed) price() Price {
	p := Price{}
	p.Input, _ = decimal(l.input)
	p.Output, _ = decimal(l.output)
	addCachePrices(&p, l.provider, l.model)
	return p
}

// endpoint says where a provider is called.
type endpoint struct {
	host     string // or its end, if it begins with a dot
	path     string // how the path begins
	provider string
}

// knownEndpoints are those that catwalk leaves to the environment.
func knownEndpoints() []endpoint {
	return []endpoint{
		{"api.openai.com", "", "openai"},
		{".api.openai.com", "", "openai"}, // regional ones
		{"api.anthropic.com", "", "anthropic"},
		{"generativelanguage.googleapis.com", "", "gemini"},
		{"aiplatform.googleapis.com", "", "vertexai"},
		{"-aiplatform.googleapis.com", "", "vertexai"},
		{".openai.azure.com", "", "azure"},
		{".services.ai.azure.com", "", "azure"},
		{".amazonaws.com", "", "bedrock"},
	}
}

// catwalk is the part of charm.land/catwalk that is needed here, as text that is
// read in a hundredth of the time. The test in pricing/catwalk compares it
// with the module and, with -update, writes it. Lines are
//
//	provider <tab> URL
//	provider <tab> model <tab> input <tab> output
//
//go:embed catwalk.tsv
var catwalk string

func readCatalog() *catalog {
	c := &catalog{endpoints: knownEndpoints(), models: map[string]map[string]listed{}}
	for line := range strings.SplitSeq(strings.TrimSpace(catwalk), "\n") {
		f := strings.Split(line, "\t")
		if len(f) == 2 {
			if u, err := url.Parse(f[1]); err == nil {
				c.endpoints = append(c.endpoints, endpoint{u.Host, strings.TrimSuffix(u.Path, "/"), f[0]})
			}
			continue
		}
		if c.models[f[0]] == nil {
			c.models[f[0]] = map[string]listed{}
		}
		c.models[f[0]][f[1]] = listed{f[0], f[1], f[2], f[3]}
	}
	return c
}

// price finds a model at the provider that was called.
func (c *catalog) price(target, model, responseModel string) (Price, bool) {
	models := c.models[c.provider(target)]
	for _, name := range [...]string{responseModel, model} { // the model that answered is what is paid for
		name = strings.ToLower(name)
		if l, ok := models[name]; ok && name != "" {
			return l.price(), true
		}
		if l, ok := dated(models, name); ok {
			return l.price(), true
		}
	}
	return Price{}, false
}

// provider returns the provider that was called, "" if it is unknown.
func (c *catalog) provider(target string) string {
	u, err := url.Parse(target)
	if err != nil {
		return ""
	}
	host, found, longest := u.Hostname(), "", -1
	for _, e := range c.endpoints {
		fits := e.host == host || (e.host[0] == '.' || e.host[0] == '-') && strings.HasSuffix(host, e.host)
		if fits && strings.HasPrefix(u.Path, e.path) && len(e.path) > longest {
			found, longest = e.provider, len(e.path)
		}
	}
	return found
}

// dated finds a model that differs only in the date after its name, on either side:
// gpt-4o-2024-08-06, claude-sonnet-4-5-20250929.
func dated(models map[string]listed, name string) (listed, bool) {
	if name == "" {
		return listed{}, false
	}
	plain := withoutDate(name)
	if p, ok := models[plain]; ok {
		return p, true
	}
	for have, p := range models {
		if plain == name && withoutDate(have) == name {
			return p, true
		}
	}
	return listed{}, false
}

func withoutDate(name string) string {
	for _, layout := range [...]string{"-dddd-dd-dd", "-dddddddd"} {
		cut := len(name) - len(layout)
		if cut > 0 && fits(name[cut:], layout) {
			return name[:cut]
		}
	}
	return name
}

func fits(s, layout string) bool {
	for i := range len(s) {
		digit := s[i] >= '0' && s[i] <= '9'
		if layout[i] == 'd' != digit || !digit && s[i] != layout[i] {
			return false
		}
	}
	return true
}
