package replay

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/retake-debugger/retake/transcript"
)

// Check judges a text, as a command does that a user named. take is the reference of
// the take that the text is from.
type Check func(ctx context.Context, text, take string) (bool, error)

// TextPasses lets a check judge the final text of a take.
func TextPasses(name string, check Check) Predicate {
	return Predicate{Name: "check: " + name, Mode: transcript.Continue, Holds: func(ctx context.Context, t *Take) (bool, error) {
		return check(ctx, t.FinalText, t.Ref)
	}}
}

// AnswerPasses lets a check judge the last answer of a take, as JSON: {text, output:
// [item], finish_reason, model, usage}.
func AnswerPasses(name string, check Check) Predicate {
	return Predicate{Name: "check: " + name, Mode: transcript.Once, Holds: func(ctx context.Context, t *Take) (bool, error) {
		text, err := t.answerJSON()
		if err != nil {
			return false, err
		}
		return check(ctx, text, t.Ref)
	}}
}

func (t *Take) answerJSON() (string, error) {
	answer := struct {
		Text         string            `json:"text"`
		Output       []transcript.Item `json:"output"`
		FinishReason string            `json:"finish_reason"`
		Model        string            `json:"model"`
		Usage        *transcript.Usage `json:"usage"`
	}{Text: t.FinalText, Output: []transcript.Item{}, Usage: t.Usage}
	if n := len(t.Turns); n > 0 {
		last := t.Turns[n-1]
		answer.Output = append(answer.Output, last.Output...)
		answer.FinishReason, answer.Model = last.FinishReason, last.ResponseModel
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return "", fmt.Errorf("write answer: %w", err)
	}
	return string(text), nil
}
