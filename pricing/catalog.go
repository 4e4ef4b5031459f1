package pricing

import (
	"math/big"
	"net/url"
	"strconv"
	"strings"

	"charm.land/catwalk/pkg/catwalk"
	"charm.land/catwalk/pkg/embedded"
)

// catalog is the built-in prices by provider and model.
type catalog struct {
	endpoints []endpoint
	models    map[string]map[string]Price // provider → model, in lower case
}

// endpoint says where a provider is called.
type endpoint struct {
	host     string // or, with a dot before it, the end of one
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

func readCatalog() *catalog {
	c := &catalog{endpoints: knownEndpoints(), models: map[string]map[string]Price{}}
	for _, p := range embedded.GetAll() {
		id := string(p.ID)
		if u, err := url.Parse(p.APIEndpoint); err == nil && u.Host != "" {
			c.endpoints = append(c.endpoints, endpoint{u.Host, strings.TrimSuffix(u.Path, "/"), id})
		}
		models := make(map[string]Price, len(p.Models))
		for i := range p.Models {
			if price, ok := priceOf(id, &p.Models[i]); ok {
				models[strings.ToLower(p.Models[i].ID)] = price
			}
		}
		c.models[id] = models
	}
	return c
}

// priceOf takes input and output prices. Zeros are models that nobody priced, or
// that a subscription pays for: not free ones.
func priceOf(provider string, m *catwalk.Model) (Price, bool) {
	p := Price{Input: exact(m.CostPer1MIn), Output: exact(m.CostPer1MOut)}
	if p.Input == nil || p.Output == nil {
		return Price{}, false
	}
	addCachePrices(&p, provider, strings.ToLower(m.ID))
	return p, true
}

// exact gives the decimal that a float of the catalog was written as: some were
// computed, so that the price of gpt-4.1-mini is 0.39999999999999997. nil for zero.
func exact(f float64) *big.Rat {
	const digits = 9
	if f <= 0 || f > 1e6 {
		return nil
	}
	r, ok := decimal(strconv.FormatFloat(f, 'f', digits, 64))
	if !ok || r.Sign() == 0 {
		return nil
	}
	return r
}

// price finds a model at the provider that was called.
func (c *catalog) price(target, model, responseModel string) (Price, bool) {
	models := c.models[c.provider(target)]
	for _, name := range [...]string{responseModel, model} { // what answered is what is paid
		name = strings.ToLower(name)
		if p, ok := models[name]; ok && name != "" {
			return p, true
		}
		if p, ok := dated(models, name); ok {
			return p, true
		}
	}
	return Price{}, false
}

// provider names who was called, "" if that is not known.
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

// dated finds a model that differs only in the date behind its name, on either
// side: gpt-4o-2024-08-06, claude-sonnet-4-5-20250929.
func dated(models map[string]Price, name string) (Price, bool) {
	if name == "" {
		return Price{}, false
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
	return Price{}, false
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
