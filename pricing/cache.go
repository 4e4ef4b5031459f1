package pricing

import "strings"

// cacheRate is the price of cached tokens as parts of the input price; "" if
// unknown.
type cacheRate struct {
	provider string
	model    string // what the name begins with, or, after a *, contains
	read     string
	write    string
	write1h  string
}

// cacheRates is the table of prices of cached tokens, as of November 2026. The
// first entry that fits counts. Other providers' cached tokens are unknown here:
// a user's file may price them.
//
// Sources:
//
//	Anthropic  https://platform.claude.com/docs/en/about-claude/pricing
//	           reads 0.1, writes 1.25 for five minutes and 2 for an hour
//	OpenAI     https://openai.com/index/api-prompt-caching/ (gpt-4o, o1: half price)
//	           https://developers.openai.com/api/docs/pricing (cached input of each model)
//	           writes cost what input costs, from gpt-5.6 on 1.25 of that
//	xAI        https://docs.x.ai/developers/pricing (cached input of each model)
//	           writes cost what input costs
func cacheRates() []cacheRate {
	return []cacheRate{
		{"anthropic", "claude-", "0.1", "1.25", "2"},
		{"bedrock", "*anthropic.claude-", "0.1", "1.25", "2"},
		{"vertexai", "claude-", "0.1", "1.25", "2"},
		{"openai", "gpt-5.6", "0.1", "1.25", ""},
		{"openai", "gpt-5.5-pro", "", "", ""}, // no cached price
		{"openai", "gpt-5.4-pro", "", "", ""},
		{"openai", "gpt-5", "0.1", "1", ""},
		{"openai", "gpt-4.1", "0.25", "1", ""},
		{"openai", "gpt-4o", "0.5", "1", ""},
		{"openai", "o3-mini", "0.5", "1", ""},
		{"openai", "o3", "0.25", "1", ""},
		{"openai", "o4-mini", "0.25", "1", ""},
		{"xai", "grok-4.3", "0.16", "1", ""},
	}
}

func addCachePrices(p *Price, provider, model string) {
	for _, r := range cacheRates() {
		held, anywhere := strings.CutPrefix(r.model, "*")
		if r.provider != provider || !(strings.HasPrefix(model, r.model) || anywhere && strings.Contains(model, held)) {
			continue
		}
		p.CacheRead, p.CacheWrite, p.CacheWrite1h = times(p.Input, r.read), times(p.Input, r.write), times(p.Input, r.write1h)
		return
	}
}
