package web

import (
	"context"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// liveStep is a step that is being recorded.
type liveStep struct {
	V      *view.Live
	Blocks []liveBlock
}

// liveBlock is an item of a step in progress. It has no place of its own yet.
type liveBlock struct {
	Label string
	Class string
	Text  value
}

// liveSteps lays out the steps of a run that are being recorded.
func (s *server) liveSteps(ctx context.Context, run *transcript.Run) ([]liveStep, error) {
	list, err := s.underWay(ctx)
	if err != nil {
		return nil, err
	}
	var out []liveStep
	b := newBudget()
	for _, v := range list {
		if v.RunRef != view.RunRef(run.N) {
			continue
		}
		step := liveStep{V: v}
		for i := range v.Entries {
			step.Blocks = append(step.Blocks, liveBlockOf(b, &v.Entries[i]))
		}
		out = append(out, step)
	}
	return out, nil
}

func liveBlockOf(b *budget, e *view.Entry) liveBlock {
	l := liveBlock{Label: labelOf(&e.Item), Class: string(e.Item.Kind) + " " + e.Item.Role}
	switch e.Item.Kind {
	case transcript.ToolCall:
		l.Label = e.Item.Name
		l.Text = b.data(e.Item.ArgumentsRaw, "", moderate)
	case transcript.ToolResult:
		l.Label = strings.TrimSpace("result " + e.Item.Name)
		l.Text = b.value(e.Item.Text, "", moderate)
	default:
		l.Text = b.value(e.Item.Text, "", open)
	}
	return l
}

// isSeen reports whether a run is unchanged since a page showed it.
func (s *server) isSeen(ctx context.Context, run *transcript.Run, live []liveStep, seen string) (bool, error) {
	if seen == "" {
		return false, nil
	}
	rows, err := view.Runs(ctx, s.reader, transcript.RunFilter{IDs: []string{run.ID}, Limit: 1}, s.now())
	if err != nil || len(rows) == 0 {
		return false, err
	}
	return stateOf(&rows[0], live) == seen, nil
}

// stateOf returns a digest of a run. While it is unchanged, so is the run's page.
func stateOf(r *view.RunRow, live []liveStep) string {
	h := fnv.New64a()
	fmt.Fprint(h, r.Counts.Exchanges, r.Takes, r.Name, r.Tags, r.Note, r.Pinned)
	if r.EndedAt != nil {
		fmt.Fprint(h, r.EndedAt.UnixNano())
	}
	for i := range live {
		fmt.Fprint(h, live[i].V.ID, len(live[i].Blocks))
		for k := range live[i].Blocks {
			fmt.Fprint(h, live[i].Blocks[k].Text.Size)
		}
	}
	return strconv.FormatUint(h.Sum64(), 36)
}

// refreshURL returns the address that refreshes a page which shows that state.
func refreshURL(c *gin.Context, seen string) string {
	q := c.Request.URL.Query()
	q.Set("seen", seen)
	return c.Request.URL.Path + "?" + q.Encode()
}
