package retake

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/view"
)

// Replay sends a recorded step again with the edits of the plan and goes on until the
// model calls no tool. The reference names the step, such as "r12.3"; of a whole run
// the plan chooses the step. The take is recorded as a branch of the run. Keys come from
// [Options.Key].
//
// Tool results come from the edits and the recording. No tool runs unless plan.Sources
// names it. To compare many takes, prepare the plan yourself and use replay/sample
// with [DB.Player].
func (db *DB) Replay(ctx context.Context, ref string, plan replay.Plan) (*replay.Take, error) {
	rows, err := db.current(ctx)
	if err != nil {
		return nil, err
	}
	if err := locate(ctx, rows, ref, &plan); err != nil {
		return nil, err
	}
	ready, err := plan.Prepare(ctx, rows)
	if err != nil {
		return nil, err
	}
	if err := ready.SetKeys(db.key, ""); err != nil {
		return nil, err
	}
	take, err := ready.Play(ctx, db.Player(), nil)
	if err != nil {
		return nil, err
	}
	if n := len(take.Steps); n > 0 {
		if _, err := db.Stored(ctx, take.Steps[n-1]); err != nil {
			return nil, fmt.Errorf("store the take: %w", err)
		}
	}
	return take, nil
}

// locate puts the step, or the steps of the run, that ref means into the plan.
func locate(ctx context.Context, rows *store.DB, ref string, plan *replay.Plan) error {
	t, err := view.Locate(ctx, rows, ref)
	if err != nil {
		return err
	}
	if plan.Origin = t.Exchange; t.Exchange != nil {
		return nil
	}
	run, err := t.View(ctx, rows, time.Now())
	if err != nil {
		return err
	}
	if agent := max(t.Agent, 1) - 1; agent < len(run.Agents) {
		for _, s := range run.Agents[agent].Steps {
			plan.Steps = append(plan.Steps, s.Exchange)
		}
	}
	return nil
}

// Player returns a player of takes that records what it sends into this database.
func (db *DB) Player() *replay.Player {
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.DisableCompression = true
	o := db.Recording()
	o.Label = "" // a take belongs to the run that it replays
	return &replay.Player{Store: db.Store(), Transport: recorder.NewTransport(base, o), WithID: recorder.WithID, Prices: db.priceTable()}
}
