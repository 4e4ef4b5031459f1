package replay_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/replay/replaytest"
	"github.com/retake-debugger/retake/transcript"
)

// toolFunc answers every call.
type toolFunc func(*replay.Call) *replay.Result

func (f toolFunc) Covers(*replay.Call) bool { return true }

func (f toolFunc) Answer(_ context.Context, c *replay.Call) (*replay.Result, error) {
	return f(c), nil
}

// tapeOf returns the sources that a take of an exchange has by default.
func tapeOf(t *testing.T, r transcript.Reader, e *transcript.Exchange, edits ...transcript.Edit) []replay.Source {
	t.Helper()
	tape, err := replay.ReadRecorded(context.Background(), r, e)
	if err != nil {
		t.Fatal(err)
	}
	edited, recorded := tape.Sources(edits, nil)
	return []replay.Source{edited, recorded}
}

func sources(take *replay.Take) string {
	var list []string
	for _, r := range take.Results {
		list = append(list, string(r.Source))
	}
	return strings.Join(list, " ")
}

// A take of the whole run goes on with the recorded results, however the model names
// its calls this time, and with an edited one in the place of what was recorded.
func TestPlay_ContinuesFromTheTape(t *testing.T) {
	for path := range firsts {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprint(strings.TrimPrefix(path, "/v1/"), " stream ", stream), func(t *testing.T) {
				b, s := newBench(t), newScripted(t, 3)
				s.stream, s.parallel = stream, 2
				steps := b.run(s, path, func(n int) string { return fmt.Sprint("result ", n) })
				same, err := b.Player().Play(t.Context(), replaytest.Prepare(t, b.DB, steps[0]), replay.Options{Sources: tapeOf(t, b.DB, steps[0])})
				if err != nil {
					t.Fatal(err)
				}
				if want := sum([]string{"result 1", "result 2", "result 3", "result 4"}); same.FinalText != want || sources(same) != "recorded recorded recorded recorded" || len(same.Steps) != 4 {
					t.Errorf("%q from %s in %d steps, want %q", same.FinalText, sources(same), len(same.Steps), want)
				}
				if same.Outcome != transcript.OK || same.StopReason != transcript.StopAnswered || same.Usage == nil || same.Usage.InputTotal != 400 || same.CostUSD != nil {
					t.Errorf("outcome %s, %s, usage %+v, cost %v", same.Outcome, same.StopReason, same.Usage, same.CostUSD)
				}
				calls, err := b.DB.Calls(t.Context(), []string{steps[1].ID})
				if err != nil || len(calls) != 1 {
					t.Fatalf("calls %v, %v", calls, err)
				}
				edit := transcript.Edit{Op: transcript.SetResult, CallID: calls[0].CallID, Text: "edited"}
				take, err := b.Player().Play(t.Context(), replaytest.Prepare(t, b.DB, steps[0]), replay.Options{Sources: tapeOf(t, b.DB, steps[0], edit), Edits: []transcript.Edit{edit}})
				if err != nil {
					t.Fatal(err)
				}
				if want := sum([]string{"result 1", "result 2", "edited", "result 4"}); take.FinalText != want || sources(take) != "recorded recorded edited recorded" {
					t.Errorf("%q from %s, want %q", take.FinalText, sources(take), want)
				}
				kept, err := b.DB.TakeN(t.Context(), take.N)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(take.Results, kept.Results); diff != "" || kept.StopReason != transcript.StopAnswered || len(kept.Steps) != 4 {
					t.Errorf("kept %+v; results differ (-told +kept):\n%s", kept, diff)
				}
				last := b.Exchange(take.Steps[3])
				if last.Link.Run != steps[0].Link.Run || last.Link.Agent != steps[0].Link.Agent || last.Link.Step != 4 || last.Link.Parent != take.Steps[2] {
					t.Errorf("the last step hangs at %+v", last.Link)
				}
			})
		}
	}
}
