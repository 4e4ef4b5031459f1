package replay_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
)

// ran is a source that runs some tools, counts how often, and breaks down at others.
type ran struct {
	runs   map[string]int
	breaks string
	before func(name string)
}

func (r *ran) Covers(*replay.Call) bool { return true }

func (r *ran) Answer(_ context.Context, c *replay.Call) (*replay.Result, error) {
	if r.before != nil {
		r.before(c.Name)
	}
	if c.Name == r.breaks {
		return nil, errors.New("broken")
	}
	r.runs[c.Name]++
	return &replay.Result{Text: "of " + c.Name, IsError: c.Name == "g", Source: transcript.FromExec}, nil
}

// What tools gave before a take stopped is there for the take that goes on from it:
// no tool runs twice.
func TestResume_WhatRanIsNotRunAgain(t *testing.T) {
	for _, how := range []string{"a tool breaks down", "it is interrupted"} {
		t.Run(how, func(t *testing.T) {
			b, a := newBench(t), newAnswers(t, calling(`f {}`, `g {}`, `h {}`))
			tools := &ran{runs: map[string]int{}}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if how == "it is interrupted" {
				tools.before = func(name string) {
					if name == "h" {
						cancel()
					}
				}
			} else {
				tools.breaks = "h"
			}
			stopped, err := b.Player().Play(ctx, b.origin(a), replay.Options{Sources: []replay.Source{tools}})
			if err != nil || stopped.StopReason != transcript.StopSource && stopped.StopReason != transcript.StopInterrupt {
				t.Fatal(stopped, err)
			}
			b.Exchange(stopped.Steps[0])
			stored, err := b.DB.TakeN(t.Context(), stopped.N)
			if err != nil {
				t.Fatal(err)
			}
			before := map[string]int{"f": tools.runs["f"], "g": tools.runs["g"]}
			req, resumed, err := replay.Resume(t.Context(), b.DB, stored)
			if err != nil || len(resumed.Calls) != 3 {
				t.Fatal(resumed, err)
			}
			if err := req.SendTo(a.server.URL); err != nil {
				t.Fatal(err)
			}
			a.list, a.asked = []string{saying("done", "stop")}, nil
			tools.breaks, tools.before = "", nil
			edits := []transcript.Edit{{Op: transcript.SetResult, CallID: "call_0", Text: "by hand"}}
			byHand := toolFunc(func(c *replay.Call) *replay.Result {
				if c.CallID == "call_0" {
					return &replay.Result{Text: "by hand", Source: transcript.FromEdit}
				}
				return nil
			})
			take, err := b.Player().Play(t.Context(), req, replay.Options{Resume: resumed, Sources: []replay.Source{byHand, tools}, Edits: edits})
			if err != nil || take.StopReason != transcript.StopAnswered || sources(take) != "edited exec exec" {
				t.Fatalf("%+v, %v: %s", take, err, sources(take))
			}
			if tools.runs["f"] != before["f"] || tools.runs["g"] != before["g"] || tools.runs["h"] == 0 {
				t.Errorf("runs before %v, now %v", before, tools.runs)
			}
			sent := a.asked[0]
			for _, want := range []string{"by hand", "of g", "of h"} {
				if !strings.Contains(sent, want) {
					t.Errorf("no %q in %s", want, sent)
				}
			}
			whole, err := b.DB.TakeN(t.Context(), take.N)
			if err != nil || len(whole.Results) != 3 {
				t.Fatalf("%+v, %v", whole, err)
			}
			for _, r := range whole.Results {
				if r.Waits() || r.Text != "" || r.Exchange != take.Steps[0] {
					t.Errorf("result %+v", r)
				}
			}
		})
	}
}

// A take that stopped is gone on with; what it took from the recording stays used up.
func TestResume(t *testing.T) {
	b, a := newBench(t), newAnswers(t, calling(`f {}`), calling(`f {}`), calling(`g {}`), saying("done", "stop"))
	n := 0
	recorded, err := b.Player().Play(t.Context(), b.origin(a), replay.Options{Sources: []replay.Source{toolFunc(func(*replay.Call) *replay.Result {
		n++
		return &replay.Result{Text: fmt.Sprint("result ", n), Source: transcript.FromExec}
	})}})
	if err != nil || recorded.StopReason != transcript.StopAnswered {
		t.Fatal(recorded, err)
	}
	first := b.Exchange(recorded.Steps[0])
	b.Exchange(recorded.Steps[3])
	a.list, a.asked = []string{calling(`f {}`), calling(`h {}`)}, nil
	stopped, err := b.Player().Play(t.Context(), b.origin2(&replay.Take{Origin: first.ID}, a), replay.Options{Sources: tapeOf(t, b.DB, first)})
	if err != nil || stopped.StopReason != transcript.StopOpenCalls || len(stopped.OpenCalls) != 1 || stopped.OpenCalls[0].Name != "h" {
		t.Fatalf("%+v, %v", stopped, err)
	}
	b.Exchange(stopped.Steps[1])
	req, resumed, err := replay.Resume(t.Context(), b.DB, stopped.Stored)
	if err != nil || len(resumed.Calls) != 1 || len(resumed.Used) != 1 {
		t.Fatalf("%+v, %v", resumed, err)
	}
	if err := req.SendTo(a.server.URL); err != nil {
		t.Fatal(err)
	}
	tape, err := replay.ReadRecorded(t.Context(), b.DB, first)
	if err != nil {
		t.Fatal(err)
	}
	edits := []transcript.Edit{{Op: transcript.SetResult, CallID: "call_0", Text: "by hand"}}
	edited, rec := tape.Sources(edits, resumed.Used)
	if _, err := b.Player().Play(t.Context(), req, replay.Options{Resume: resumed, Sources: []replay.Source{rec}}); !errors.Is(err, replay.ErrOpenCalls) {
		t.Errorf("without a result: %v", err)
	}
	a.list, a.asked = []string{saying("done", "stop")}, nil
	edited2, rec2 := tape.Sources(edits, resumed.Used)
	next, err := resumed.Next(t.Context(), b.DB, req, []replay.Source{edited2, rec2}, edits)
	if err != nil {
		t.Fatal(err)
	}
	take, err := b.Player().Play(t.Context(), req, replay.Options{Resume: resumed, Sources: []replay.Source{edited, rec}, Edits: edits})
	if err != nil || take.StopReason != transcript.StopAnswered || sources(take) != "recorded edited" || len(take.Steps) != 1 {
		t.Fatalf("%+v, %v", take, err)
	}
	if string(next.Body) != a.asked[0] {
		t.Errorf("it said that it would send\n%s\nand sent\n%s", next.Body, a.asked[0])
	}
	if e := b.Exchange(take.Steps[0]); e.Link.Parent != stopped.Steps[1] || e.Link.Step != 3 || take.Stored.Parent != stopped.Stored.ID {
		t.Errorf("it hangs at %+v", e.Link)
	}
	if _, _, err := replay.Resume(t.Context(), b.DB, take.Stored); !errors.Is(err, replay.ErrFinished) {
		t.Errorf("a take that came to its end: %v", err)
	}
}
