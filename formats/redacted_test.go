package formats_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/formats"
	"github.com/retake-debugger/retake/redact"
	"github.com/retake-debugger/retake/transcript"
)

// oneTake is a store with a take.
type oneTake struct {
	transcript.Reader
	take transcript.Take
}

func (o *oneTake) TakeN(context.Context, int64) (*transcript.Take, error) {
	t := o.take
	t.Results = append([]transcript.TakeResult{}, o.take.Results...)
	return &t, nil
}

func (o *oneTake) Takes(ctx context.Context, _ string) ([]transcript.Take, error) {
	t, err := o.TakeN(ctx, 1)
	return []transcript.Take{*t}, err
}

func TestRedacted_TakesHaveNoSecrets(t *testing.T) {
	secret := "ghp_" + strings.Repeat("a1", 18)
	r := formats.NewRedacted(&oneTake{take: transcript.Take{Edits: `[{"text":"` + secret + `"}]`, Reason: secret,
		Results: []transcript.TakeResult{{CallID: "call_0", Name: "f " + secret, Text: "the token is " + secret}}}}, redact.NewScrubber(nil))
	one, err := r.TakeN(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	list, err := r.Takes(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, take := range append(list, *one) {
		if text := fmt.Sprintf("%+v", take); strings.Contains(text, secret) || !strings.Contains(take.Results[0].Text, "the token is [redacted:") {
			t.Errorf("a secret is left: %s", text)
		}
	}
}
