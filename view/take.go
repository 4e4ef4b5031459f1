package view

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/retake-debugger/retake/transcript"
)

// Take is one replay as a reader sees it.
type Take struct {
	Ref        string                  `json:"take"`
	ID         string                  `json:"id"`
	N          int64                   `json:"n"`
	Origin     string                  `json:"origin"`     // id of the exchange that was replayed
	OriginRef  string                  `json:"origin_ref"` // its short reference, "" if it was removed
	Parent     string                  `json:"parent"`     // id of the take that it continues
	Edits      []transcript.Edit       `json:"edits"`
	Reason     string                  `json:"reason"`
	Mode       transcript.TakeMode     `json:"mode"`
	Group      string                  `json:"group"`
	Arm        string                  `json:"arm"`
	CreatedAt  time.Time               `json:"created_at"`
	EndedAt    *time.Time              `json:"ended_at"` // null: it is running, or was killed
	Outcome    transcript.Outcome      `json:"outcome"`
	StopReason transcript.StopReason   `json:"stop_reason"`
	Steps      []string                `json:"steps"`     // ids of its steps' exchanges, the last attempt of each
	Exchanges  []transcript.TakeStep   `json:"exchanges"` // everything that it sent, including further attempts and side calls
	FirstN     int64                   `json:"first_n"`   // numbers of its first and its last exchange; 0: none is stored
	LastN      int64                   `json:"last_n"`    //
	Run        string                  `json:"run"`       // id of its run
	Results    []transcript.TakeResult `json:"tool_results"`
}

// TakeRef is the short reference of take n.
func TakeRef(n int64) string { return fmt.Sprintf("t%d", n) }

// NewTake returns the view of a take.
func NewTake(ctx context.Context, r transcript.Reader, t *transcript.Take) (*Take, error) {
	v := &Take{Ref: TakeRef(t.N), ID: t.ID, N: t.N, Origin: t.Origin, Parent: t.Parent, Edits: []transcript.Edit{}, Reason: t.Reason, Mode: t.Mode, Group: t.Group, Arm: t.Arm,
		CreatedAt: t.CreatedAt, Outcome: t.Outcome, StopReason: t.StopReason, Steps: []string{}, Exchanges: append([]transcript.TakeStep{}, t.Steps...),
		Results: append([]transcript.TakeResult{}, t.Results...)}
	if t.Edits != "" {
		if err := json.Unmarshal([]byte(t.Edits), &v.Edits); err != nil {
			return nil, fmt.Errorf("read edits of take %s: %w", v.Ref, err)
		}
	}
	if !t.EndedAt.IsZero() {
		v.EndedAt = &t.EndedAt
	}
	origin, _, err := rowOf(ctx, r, t.Origin)
	if err != nil {
		return nil, err
	}
	if origin != nil {
		v.OriginRef = origin.Ref()
	}
	for i, s := range t.Steps {
		if s.Step > 0 && !slices.ContainsFunc(t.Steps[i+1:], func(later transcript.TakeStep) bool { return later.Step == s.Step }) {
			v.Steps = append(v.Steps, s.Exchange)
		}
		e, err := r.Exchange(ctx, s.Exchange)
		if lost(err) != "" {
			continue
		}
		if err != nil {
			return nil, err
		}
		if v.FirstN == 0 {
			v.FirstN, v.Run = e.N, e.Link.Run
		}
		v.LastN = e.N
	}
	return v, nil
}

// TakesOf lists takes, oldest first: all, those of a run, or those of an exchange.
func TakesOf(ctx context.Context, r transcript.Reader, of *Target) ([]*Take, error) {
	id := ""
	if of != nil && of.Exchange != nil {
		id = of.Exchange.ID
	}
	takes, err := r.Takes(ctx, id)
	if err != nil && lost(err) == "" {
		return nil, err
	}
	list := []*Take{}
	for i := range takes {
		v, err := NewTake(ctx, r, &takes[i])
		if err != nil {
			return nil, err
		}
		if of == nil || of.Exchange != nil || of.Run.ID == v.Run {
			list = append(list, v)
		}
	}
	return list, nil
}

// SentBy returns the take that sent an exchange, nil if there is none.
func SentBy(ctx context.Context, r transcript.Reader, e *transcript.Exchange) (*Take, error) {
	takes, err := r.Takes(ctx, e.ID)
	if err != nil && lost(err) == "" {
		return nil, err
	}
	for i := range takes {
		if !takes[i].Sent(e.ID) {
			continue
		}
		whole, err := r.TakeN(ctx, takes[i].N)
		if err != nil {
			return nil, err
		}
		return NewTake(ctx, r, whole)
	}
	return nil, nil
}

// takes sets the takes of an exchange, and the one that sent it.
func (t *Transcript) takes(ctx context.Context, r transcript.Reader, e *transcript.Exchange) error {
	t.Takes, t.Edits = []Row{}, []transcript.Edit{}
	takes, err := r.Takes(ctx, e.ID)
	if err != nil && lost(err) == "" {
		return err
	}
	for i := range takes {
		take := &takes[i]
		if take.Sent(e.ID) {
			if err := t.sentBy(ctx, r, take.N); err != nil {
				return err
			}
			continue
		}
		if take.Arm == transcript.CandidateArm {
			t.Candidates++
			continue
		}
		row, _, err := rowOf(ctx, r, take.Last())
		if err != nil {
			return err
		}
		if row != nil {
			t.Takes = append(t.Takes, *row)
		}
	}
	return nil
}

// sentBy marks the edits and results of the take that sent the exchange.
func (t *Transcript) sentBy(ctx context.Context, r transcript.Reader, n int64) error {
	whole, err := r.TakeN(ctx, n)
	if err != nil {
		return err
	}
	if t.Take, err = NewTake(ctx, r, whole); err != nil {
		return err
	}
	t.Edits = append(t.Edits, t.Take.Edits...)
	if t.TakeOf, _, err = rowOf(ctx, r, whole.Origin); err != nil {
		return err
	}
	line, err := takeLine(ctx, r, whole)
	if err != nil {
		return err
	}
	t.markEdits(line)
	t.markSources(line)
	return nil
}

// mostResumed bounds a chain of takes that continue each other.
const mostResumed = 100

// takeLine returns a take and those that it continues.
func takeLine(ctx context.Context, r transcript.Reader, t *transcript.Take) ([]*transcript.Take, error) {
	line := []*transcript.Take{t}
	for t.Parent != "" && len(t.Steps) > 0 && len(line) < mostResumed {
		first, err := r.Exchange(ctx, t.Steps[0].Exchange)
		if lost(err) != "" {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
		before, err := r.Takes(ctx, first.Link.Parent)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(before, func(b transcript.Take) bool { return b.ID == t.Parent })
		if i < 0 {
			return line, nil
		}
		if t, err = r.TakeN(ctx, before[i].N); errors.Is(err, transcript.ErrNotFound) {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
		line = append(line, t)
	}
	return line, nil
}

// markEdits attaches each edit to the entry whose result it changed. The requests
// of a take only grow, so entries keep their position.
func (t *Transcript) markEdits(line []*transcript.Take) {
	for _, take := range line {
		var edits []transcript.Edit
		if json.Unmarshal([]byte(take.Edits), &edits) != nil {
			continue
		}
		for i := range t.Entries {
			pair := t.Entries[i].Pair
			if pair == nil || pair.Result == nil || pair.Result.Exchange != t.Exchange.ID {
				continue
			}
			for k := range edits {
				if e := &edits[k]; e.At != "" && e.At == pair.Result.At && (e.CallID == "" || e.CallID == pair.CallID) {
					t.Entries[i].Edit = e
				}
			}
		}
	}
}

// markSources sets the source of each result. Call ids repeat, and a take's results
// come last, so results are matched from the end. A replay does not show how long
// its tools took, so its results have no latency.
func (t *Transcript) markSources(line []*transcript.Take) {
	given := t.given(line)
	for i := range slices.Backward(t.Entries) {
		entry := &t.Entries[i]
		if entry.Pair == nil || entry.Pair.Result == nil {
			continue
		}
		entry.From = transcript.FromRecording
		if entry.Edit != nil {
			entry.From, entry.Pair.LatencyMS = transcript.FromEdit, nil
		}
		for k := len(given) - 1; k >= 0; k-- {
			if given[k].CallID == entry.Pair.CallID {
				entry.From, entry.Pair.LatencyMS = given[k].Source, nil
				given = slices.Delete(given, k, k+1)
				break
			}
		}
	}
}

// given lists the results of takes up to the exchange, oldest first.
func (t *Transcript) given(line []*transcript.Take) []transcript.TakeResult {
	var list []transcript.TakeResult
	for i, take := range slices.Backward(line) {
		sent := map[string]bool{}
		for _, s := range take.Steps {
			if sent[s.Exchange] = true; i == 0 && s.Exchange == t.Exchange.ID {
				break
			}
		}
		for _, r := range take.Results {
			if sent[r.Exchange] {
				list = append(list, r)
			}
		}
	}
	return list
}
