package dialect

import (
	"testing"

	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/transcript"
)

func TestDecode_WhatTheProviderHolds(t *testing.T) {
	const answer = `{"id":"resp_1","object":"response","status":"completed","output":[]}`
	type held struct {
		dialect                             transcript.Dialect
		previous, conversation, retrievedID string
		replaces                            bool
	}
	tests := []struct {
		name                           string
		method, url, request, response string
		want                           held
	}{
		{"an answer to go on from", "POST", "/v1/responses", `{"model":"m","previous_response_id":"resp_0","input":"hi"}`, answer, held{transcript.Responses, "resp_0", "", "", false}},
		{"a conversation", "POST", "/v1/responses", `{"model":"m","conversation":"conv_1","input":"hi"}`, answer, held{transcript.Responses, "", "conv_1", "", false}},
		{"a conversation as an object", "POST", "/v1/responses", `{"model":"m","conversation":{"id":"conv_1"},"input":"hi"}`, answer, held{transcript.Responses, "", "conv_1", "", false}},
		{"a conversation that only the answer names", "POST", "/v1/responses", `{"model":"m","prompt":{"id":"p"}}`, `{"id":"resp_1","object":"response","conversation":{"id":"conv_1"},"output":[]}`, held{transcript.Responses, "", "conv_1", "", false}},
		{"a poll", "GET", "/v1/responses/resp_1", "", answer, held{transcript.Responses, "", "", "resp_1", false}},
		{"a poll of an answer that continues another", "GET", "/v1/responses/resp_1", "", `{"id":"resp_1","object":"response","previous_response_id":"resp_0","output":[]}`, held{transcript.Responses, "resp_0", "", "resp_1", false}},
		{"a resumed stream", "GET", "/v1/responses/resp_1?stream=true&starting_after=7", "", "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":\"x\"}\n\n", held{transcript.Responses, "", "", "resp_1", false}},
		{"a poll that failed", "GET", "/openai/v1/responses/resp_1", "", `{"error":{"message":"gone"}}`, held{transcript.Responses, "", "", "resp_1", false}},
		{"a cancellation", "POST", "/v1/responses/resp_1/cancel", "", answer, held{transcript.Responses, "", "", "resp_1", false}},
		{"a compaction", "POST", "/v1/responses/compact", `{"model":"m","input":[]}`, `{"id":"resp_2","object":"response.compaction","output":[{"type":"compaction","id":"cmp_1","encrypted_content":"x"}]}`, held{transcript.Responses, "", "", "", true}},
		{"the items of an answer", "GET", "/v1/responses/resp_1/input_items", "", `{"object":"list","data":[]}`, held{transcript.Unknown, "", "", "resp_1", false}},
		{"a conversation that begins", "POST", "/v1/conversations", `{}`, `{"id":"conv_1","object":"conversation"}`, held{transcript.Unknown, "", "conv_1", "", false}},
		{"a conversation that is changed", "POST", "/v1/conversations/conv_1/items", `{"items":[]}`, `{"object":"list","data":[]}`, held{transcript.Unknown, "", "conv_1", "", false}},
		{"a thread", "POST", "/v1/messages", `{"model":"m","thread":{"type":"continue","previous_message_id":"msg_1"},"messages":[]}`, `{"id":"msg_2","type":"message","role":"assistant","content":[],"stop_reason":"end_turn"}`, held{transcript.Messages, "msg_1", "", "", false}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := &api.Wire{Method: tt.method, URL: "https://api.example.com" + tt.url, Status: 200, Request: []byte(tt.request), Response: []byte(tt.response)}
			turn := Decode(Recognise(w), w)
			got := held{turn.Dialect, turn.PreviousID, turn.Conversation, turn.RetrievedID, turn.Replaces}
			if got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}
