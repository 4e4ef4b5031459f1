package dialect_test

import (
	"strings"
	"testing"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/transcript"
)

// Some clients write control characters into JSON strings as they are.
func TestDecode_ReadsControlCharactersThatAreNotEscaped(t *testing.T) {
	turn := dialect.Decode(transcript.Chat, &api.Wire{Method: "POST", URL: "https://api.example.com/v1/chat/completions", Status: 200,
		Request: []byte("{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"bell \a \\\"two\nlines\\\" \\u001b end\"}]}")})
	const want = "bell \a \"two\nlines\" \x1b end"
	if len(turn.Input) != 1 || turn.Input[0].Text != want {
		t.Fatalf("input %+v, want the text %q", turn.Input, want)
	}
	if said := strings.Join(turn.Warnings, "; "); !strings.Contains(said, "request body has 2 control characters in strings that are not escaped") {
		t.Errorf("warnings: %q", said)
	}
}
