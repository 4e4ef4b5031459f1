package dialect

import (
	"testing"

	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/transcript"
)

func TestRecognise_ByPathAndBody(t *testing.T) {
	const (
		chat       = `{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"x"}}]}`
		chunks     = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"}}]}\n\n"
		completion = `{"id":"c","object":"text_completion","choices":[{"text":"x"}]}`
		response   = `{"id":"r","object":"response","status":"completed","output":[]}`
		created    = "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"object\":\"response\"}}\n\n"
		message    = `{"id":"m","type":"message","role":"assistant","content":[],"stop_reason":"end_turn"}`
		begun      = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n"
		messages   = `{"model":"m","messages":[]}`
		input      = `{"model":"m","input":"x"}`
		vertex     = `{"anthropic_version":"vertex-2023-10-16","messages":[],"max_tokens":1}`
	)
	for _, c := range []struct {
		method, url, request, response string
		want                           transcript.Dialect
	}{
		{"POST", "https://api.openai.com/v1/chat/completions", messages, chat, transcript.Chat},
		{"POST", "/v1/chat/completions?x=1", "", "", transcript.Chat},
		{"POST", "http://h/openai/deployments/gpt-4o/chat/completions?api-version=2024-06-01", `{"messages":[]}`, "", transcript.Chat},
		{"POST", "/gateway/acct/openai/v1//chat/completions/", messages, "<html>", transcript.Chat},
		{"POST", "/odd/path", messages, chat, transcript.Chat},
		{"POST", "/odd/path", messages, chunks, transcript.Chat},
		{"POST", "/odd/path", messages, "", transcript.Unknown},
		{"GET", "/v1/chat/completions", "", `{"object":"list","data":[]}`, transcript.Unknown},
		{"POST", "/v1/completions", `{"prompt":"x"}`, completion, transcript.Unknown},
		{"POST", "/api/chat", messages, `{"model":"m","message":{"role":"assistant"},"done":true}`, transcript.Unknown},
		{"POST", "/model/nova/converse", `{"messages":[]}`, `{"output":{"message":{"content":[]}},"stopReason":"end_turn"}`, transcript.Unknown},
		{"POST", "/v1/responses", input, response, transcript.Responses},
		{"POST", "/openai/v1/responses", `{"prompt":{"id":"p"}}`, "", transcript.Responses},
		{"POST", "/api/v1/responses", "", created, transcript.Responses},
		{"POST", "/forms/7/responses", `{"answers":[]}`, `{"ok":true}`, transcript.Unknown},
		{"GET", "/v1/responses/resp_1", "", response, transcript.Responses},
		{"GET", "/v1/responses/resp_1?stream=true&starting_after=4", "", created, transcript.Responses},
		{"GET", "/v1/responses/resp_1/input_items", "", `{"object":"list","data":[]}`, transcript.Unknown},
		{"DELETE", "/v1/responses/resp_1", "", `{"id":"r","object":"response.deleted","deleted":true}`, transcript.Unknown},
		{"POST", "/v1/responses/resp_1/cancel", "", response, transcript.Responses},
		{"POST", "/v1/responses/compact", input, "", transcript.Responses},
		{"POST", "/v1/responses/input_tokens", input, `{"object":"response.input_tokens","input_tokens":1}`, transcript.Unknown},
		{"POST", "/v1/messages", messages, message, transcript.Messages},
		{"POST", "/v1/messages?beta=true", messages, `{"type":"error","error":{"type":"api_error","message":"x"}}`, transcript.Messages},
		{"POST", "/v1/messages", "", begun, transcript.Messages},
		{"POST", "/v1/messages/count_tokens", messages, `{"input_tokens":1}`, transcript.Unknown},
		{"POST", "/v1/messages/batches", `{"requests":[]}`, `{"type":"message_batch"}`, transcript.Unknown},
		{"POST", "/v1/threads/t/messages", `{"role":"user","content":"x"}`, `{"object":"thread.message","content":[]}`, transcript.Unknown},
		{"POST", "/2010/Accounts/A/messages", `{"to":"x","body":"y"}`, `{"sid":"1"}`, transcript.Unknown},
		{"POST", "/v1/projects/p/publishers/anthropic/models/claude:rawPredict", vertex, "", transcript.Messages},
		{"POST", "/v1/projects/p/publishers/anthropic/models/claude:streamRawPredict", vertex, begun, transcript.Messages},
		{"POST", "/model/us.anthropic.claude-v1%3A0/invoke", `{"anthropic_version":"bedrock-2023-05-31","messages":[]}`, message, transcript.Messages},
		{"POST", "/v1/embeddings", input, `{"object":"list","data":[]}`, transcript.Unknown},
		{"GET", "/v1/models", "", `{"object":"list"}`, transcript.Unknown},
		{"POST", "/v1/files", "--boundary", `{"object":"file"}`, transcript.Unknown},
		{"POST", "/v1/realtime/sessions", `{"model":"m"}`, `{"object":"realtime.session"}`, transcript.Unknown},
		{"GET", "/", "", "", transcript.Unknown},
	} {
		w := &api.Wire{Method: c.method, URL: c.url, Status: 200, Request: []byte(c.request), Response: []byte(c.response)}
		if got := Recognise(w); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.method, c.url, got, c.want)
		}
	}
}

func TestDecode_TakesTheModelFromThePath(t *testing.T) {
	for url, want := range map[string]string{
		"/openai/deployments/my-gpt/chat/completions?api-version=1":              "my-gpt",
		"/v1/projects/p/publishers/anthropic/models/claude-x@1:streamRawPredict": "claude-x@1",
		"/model/us.anthropic.claude-v1%3A0/invoke":                               "us.anthropic.claude-v1:0",
		"/v1/chat/completions": "",
	} {
		if got := Decode(transcript.Chat, &api.Wire{URL: url, Request: []byte(`{"messages":[]}`)}).Model; got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}
