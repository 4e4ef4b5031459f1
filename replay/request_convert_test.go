package replay_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
)

func prepared(t *testing.T, at, body string, header http.Header) *replay.Request {
	t.Helper()
	db, e := record(t, &transcript.Capture{URL: at, Request: wire(body), RequestHeader: header})
	r, err := replay.NewRequest(context.Background(), db, e, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func wire(s string) body { return body(s) }

func TestConvertTo_PathHostHeadersAndKeyChangeWithTheDialect(t *testing.T) {
	const chat = `{"model":"gpt","messages":[{"role":"user","content":"hi"}]}`
	r := prepared(t, "https://api.openai.com/v1/chat/completions", chat, http.Header{
		"Authorization": {"Bearer [redacted]"}, "Openai-Organization": {"o"}, "X-Stainless-Lang": {"js"}, "User-Agent": {"agent/1"}, "Content-Type": {"application/json"}})
	losses, err := r.ConvertTo(transcript.Messages, "claude")
	if err != nil {
		t.Fatal(err)
	}
	if len(losses) != 1 || losses[0].Code != dialect.ParameterAdded {
		t.Errorf("losses %+v, want max_tokens alone", losses)
	}
	if r.URL != "https://api.anthropic.com/v1/messages" || r.Speaks() != transcript.Messages {
		t.Errorf("url %s in %s", r.URL, r.Speaks())
	}
	if err := r.SetKey("k"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"X-Api-Key": "k", "Anthropic-Version": "2023-06-01", "User-Agent": "agent/1", "Authorization": "", "Openai-Organization": "", "X-Stainless-Lang": ""} {
		if got := r.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := r.KeyVariable(); got != "ANTHROPIC_API_KEY" {
		t.Errorf("key from %s", got)
	}
	var sent struct {
		Model    string
		Messages []json.RawMessage
	}
	if err := json.Unmarshal(r.Body, &sent); err != nil || sent.Model != "claude" || len(sent.Messages) != 1 {
		t.Errorf("body %s (%v)", r.Body, err)
	}
}

func TestConvertTo_AHostOfOnesOwnStays(t *testing.T) {
	r := prepared(t, "http://127.0.0.1:8000/proxy/v1/messages?beta=true", `{"model":"c","max_tokens":5,"messages":[]}`, http.Header{"X-Api-Key": {"[redacted]"}, "Anthropic-Beta": {"b"}})
	if _, err := r.ConvertTo(transcript.Responses, ""); err != nil {
		t.Fatal(err)
	}
	if r.URL != "http://127.0.0.1:8000/proxy/v1/responses" || r.KeyVariable() != "OPENAI_API_KEY" || !strings.Contains(string(r.Body), `"model":"c"`) || r.Header.Get("Anthropic-Beta") != "" {
		t.Errorf("%s %s %s %v", r.URL, r.KeyVariable(), r.Body, r.Header)
	}
}

func TestSendToProvider_PutsPathAndKeyWhereItWantsThem(t *testing.T) {
	for _, c := range []struct{ base, url, variable string }{
		{"https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/chat/completions", "OPENROUTER_API_KEY"},
		{"https://api.deepseek.com", "https://api.deepseek.com/v1/chat/completions", "DEEPSEEK_API_KEY"},
		{"http://127.0.0.1:8000", "http://127.0.0.1:8000/v1/chat/completions", ""},
	} {
		r := prepared(t, "https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=1", `{"messages":[]}`, http.Header{"Api-Key": {"[redacted]"}})
		base, _ := url.Parse(c.base)
		if err := r.SendToProvider(base); err != nil {
			t.Fatal(err)
		}
		if r.URL != c.url || r.NeedsKey() != (c.variable != "") || c.variable != "" && r.KeyVariable() != c.variable {
			t.Errorf("%s: %s, key %v from %s", c.base, r.URL, r.NeedsKey(), r.KeyVariable())
		}
	}
}

func TestConvertTo_WithinOneDialectOnlyTheModelChanges(t *testing.T) {
	r := prepared(t, "https://api.anthropic.com/v1/messages", request, nil)
	losses, err := r.ConvertTo(transcript.Messages, "other")
	if want := strings.Replace(request, `"m"`, `"other"`, 1); err != nil || losses != nil || string(r.Body) != want {
		t.Errorf("%v %v %s", err, losses, r.Body)
	}
}

func TestConvertTo_RefusesWhatIsMissingOrHasNoPath(t *testing.T) {
	r := prepared(t, "https://api.openai.com/v1/responses", `{"model":"m","input":"hi","previous_response_id":"resp_1"}`, nil)
	if _, err := r.ConvertTo(transcript.Chat, ""); !errors.Is(err, replay.ErrHeld) {
		t.Errorf("error %v, want ErrHeld", err)
	}
	r = prepared(t, "https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=1", `{"messages":[]}`, nil)
	if _, err := r.ConvertTo(transcript.Messages, ""); !errors.Is(err, replay.ErrPath) {
		t.Errorf("error %v, want ErrPath", err)
	}
}
