package replay_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/replay/replaytest"
	"github.com/retake-debugger/retake/transcript"
)

// A take leans on nothing that the provider holds, and adds nothing to it: not to a
// conversation either that begins with the step. Where the recording does not have
// the history, nothing is sent.
func TestPlay_StandsOnItsOwn(t *testing.T) {
	b, s := newBench(t), newScripted(t, 1)
	first := b.first(s, "/v1/responses")
	for body, want := range map[string]string{
		`{"model":"m","input":[{"role":"user","content":"go"}],"conversation":"conv_1","store":true}`: `{"model":"m","input":[{"role":"user","content":"go"}],"store":true}`,
		`{"model":"m", "input":[{"role":"user","content":"go"}]}`:                                     `{"model":"m", "input":[{"role":"user","content":"go"}]}`,
	} {
		req := replaytest.Prepare(t, b.DB, first)
		req.Body = []byte(body)
		s.requests = nil
		take, err := b.Player().Play(t.Context(), req, replay.Options{Sources: anyTool})
		if err != nil || take.StopReason != transcript.StopAnswered {
			t.Fatalf("%+v, %v", take, err)
		}
		if s.requests[0] != want || strings.Contains(s.requests[1], "conv_1") {
			t.Errorf("sent %s, then %s; want %s", s.requests[0], s.requests[1], want)
		}
		b.Exchange(take.Steps[1])
	}
	req := replaytest.Prepare(t, b.DB, first)
	req.Body = []byte(`{"model":"m","input":[],"previous_response_id":"resp_unknown"}`)
	if _, err := b.Player().Play(t.Context(), req, replay.Options{Sources: anyTool}); !errors.Is(err, replay.ErrHeld) {
		t.Errorf("a history that was not recorded: %v", err)
	}
	takes, err := b.DB.Takes(t.Context(), "")
	if err != nil || len(takes) != 2 {
		t.Errorf("%d takes are kept, %v", len(takes), err)
	}
}
