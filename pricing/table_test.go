package pricing_test

import (
	"strings"
	"testing"

	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/transcript"
)

func TestTable_BuiltInPrices(t *testing.T) {
	table := pricing.New()
	usage := &transcript.Usage{InputTotal: 3_000_000, InputUncached: 1_000_000, CacheRead: 1_000_000, CacheWrite: 1_000_000, Output: 1_000_000, Total: 4_000_000, Complete: true}
	plain := &transcript.Usage{InputTotal: 1_000_000, InputUncached: 1_000_000, Output: 1_000_000, Complete: true}
	kept := func(hour int64) *transcript.Usage {
		u := *usage
		u.CacheWrite1h = &hour
		return &u
	}
	short, long := kept(0), kept(1_000_000)
	for _, c := range []struct {
		name, url, model, answered string
		usage                      *transcript.Usage
		want                       string
		lower                      bool
	}{
		{"Anthropic, five minutes", "https://api.anthropic.com/v1/messages", "claude-sonnet-4-5", "claude-sonnet-4-5-20250929", short, "22.05", false},
		{"Anthropic, an hour", "https://api.anthropic.com/v1/messages", "claude-sonnet-4-5", "", long, "24.3", false},
		{"Anthropic, nobody says how long", "https://api.anthropic.com/v1/messages", "claude-sonnet-4-5", "", usage, "22.05", true},
		{"Bedrock", "https://bedrock-runtime.us-east-1.amazonaws.com/model/x/invoke", "us.anthropic.claude-sonnet-4-6", "", short, "22.05", false},
		{"OpenAI, dated", "https://api.openai.com/v1/responses", "gpt-4o", "gpt-4o-2024-08-06", usage, "16.25", false},
		{"OpenAI, a computed float", "https://api.openai.com/v1/responses", "gpt-4.1-mini", "", plain, "2", false},
		{"OpenAI, a cached price that is unknown", "https://api.openai.com/v1/responses", "gpt-5.5-pro", "", usage, "", false},
		{"another model of the family", "https://api.openai.com/v1/responses", "gpt-4o-audio-preview", "", plain, "", false},
		{"nobody knows the host", "https://llm.corp.test/v1/responses", "gpt-4o", "", plain, "", false},
		{"a host that only looks like it", "https://api.openai.com.evil.test/v1/responses", "gpt-4o", "", plain, "", false},
		{"zeros are not free", "https://api.githubcopilot.com/chat/completions", "claude-opus-4.5", "", plain, "", false},
		{"xAI counts reasoning apart", "https://api.x.ai/v1/chat/completions", "grok-4.3", "",
			&transcript.Usage{InputTotal: 1_000_000, InputUncached: 1_000_000, Output: 1_000_000, Reasoning: 1_000_000, Total: 3_000_000, Complete: true}, "6.25", false},
		{"the longer path", "https://open.bigmodel.cn/api/coding/paas/v4/chat/completions", "glm-5.3", "", plain, "", false},
		{"a stream that was cut", "https://api.openai.com/v1/responses", "gpt-4o", "", &transcript.Usage{InputTotal: 1_000_000, InputUncached: 1_000_000}, "2.5", true},
		{"no usage", "https://api.openai.com/v1/responses", "gpt-4o", "", nil, "", false},
	} {
		got := table.Cost(pricing.Use{URL: c.url, Model: c.model, ResponseModel: c.answered, Usage: c.usage})
		if got.String() != c.want || got.LowerBound != c.lower {
			t.Errorf("%s: %q, lower bound %v; want %q, %v", c.name, got, got.LowerBound, c.want, c.lower)
		}
	}
}

func TestTable_AUsersFileReplacesAll(t *testing.T) {
	table := pricing.New()
	err := table.Override(strings.NewReader(`{"currency":"USD","per_tokens":1000,"models":{
		"GPT-4o":{"input":0.003,"output":"0.01"}, "corp-*":{"input":"1","output":"1"}, "corp-free-*":{"input":"0","output":"0"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	one := &transcript.Usage{InputTotal: 1000, InputUncached: 1000, Complete: true}
	cached := &transcript.Usage{InputTotal: 1000, CacheRead: 1000, Complete: true}
	for _, c := range []struct {
		model string
		usage *transcript.Usage
		want  string
	}{
		{"gpt-4o", one, "0.003"}, {"gpt-4o", cached, ""}, {"corp-alias", one, "1"}, {"corp-free-7", one, "0"}, {"gpt-4.1", one, "0.002"}, {"alias", one, ""},
	} {
		got := table.Cost(pricing.Use{URL: "https://api.openai.com/v1/responses", Model: c.model, Usage: c.usage})
		if got.String() != c.want {
			t.Errorf("%s: %q, want %q", c.model, got, c.want)
		}
	}
}

func TestOverride_RefusesWhatItDoesNotUnderstand(t *testing.T) {
	for _, bad := range []string{
		`{`, `[]`, `{"currency":"EUR"}`, `{"per_tokens":7}`, `{"models":{"m":{"inpt":"1"}}}`, `{"models":{"m":{"input":"1e9"}}}`, `{"models":{"m":{"input":"-1"}}}`,
		`{"models":{"m":{"input":"` + strings.Repeat("9", 100) + `"}}}`,
	} {
		if err := pricing.New().Override(strings.NewReader(bad)); err == nil || strings.Contains(err.Error(), "failed") {
			t.Errorf("%.60s: %v", bad, err)
		}
	}
}

func FuzzOverride(f *testing.F) {
	f.Add([]byte(`{"per_tokens":1000000,"models":{"m":{"input":"2.00","cache_write_5m":3.75,"output":"8"}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		table := pricing.New()
		if table.Override(strings.NewReader(string(b))) != nil {
			return
		}
		u := &transcript.Usage{InputTotal: 3, InputUncached: 1, CacheRead: 1, CacheWrite: 1, Output: 1}
		if c := table.Cost(pricing.Use{Model: "m", Usage: u}); c.USD != nil && (c.USD.Sign() < 0 || c.String() == "") {
			t.Errorf("cost %v", c.USD)
		}
	})
}
