package replay_test

import (
	"context"
	"errors"
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
			stopped, err := b.player().Play(ctx, b.origin(a), replay.Options{Sources: []replay.Source{tools}})
			if err != nil || stopped.StopReason != transcript.StopSource && stopped.StopReason != transcript.StopInterrupt {
				t.Fatal(stopped, err)
			}
			b.exchange(stopped.Steps[0])
			stored, err := b.db.TakeN(t.Context(), stopped.N)
			if err != nil {
				t.Fatal(err)
			}
			before := map[string]int{"f": tools.runs["f"], "g": tools.runs["g"]}
			req, resumed, err := replay.Resume(t.Context(), b.db, stored)
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
			take, err := b.player().Play(t.Context(), req, replay.Options{Resume: resumed, Sources: []replay.Source{byHand, tools}, Edits: edits})
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
			whole, err := b.db.TakeN(t.Context(), take.N)
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
