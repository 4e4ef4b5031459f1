package view

import (
	"crypto/sha256"
	"strconv"

	"github.com/retake-debugger/retake/transcript"
)

// content identifies what an item of a run says, without ids: replays repeat most of it.
type content struct {
	run string
	key transcript.Key
}

func contentOf(e *transcript.Exchange, it *transcript.Item, tool string) content {
	h := sha256.New()
	parts := []string{string(it.Kind), it.Role, it.Name, tool, strconv.FormatBool(it.IsError), it.Text, it.ArgumentsRaw}
	if it.Kind == transcript.Other {
		parts = append(parts, string(it.Raw))
	}
	for _, part := range append(parts, it.Parts...) {
		h.Write([]byte(strconv.Itoa(len(part)) + ":" + part))
	}
	return content{e.Link.Run, transcript.Key(h.Sum(nil)[:16])}
}

// folds counts repetitions in replays at the one hit that shows them.
type folds struct {
	hits map[content]int // where among the hits
	last map[content]int64
}

// fold reports whether a candidate needs no hit of its own: a hit of its run says the
// same, and one of the two is of a replay. The original replaces the hit of a replay.
func (f *finder) fold(c *candidate) bool {
	if c.content.run == "" || f.search.Each {
		return false
	}
	i, said := f.folds.hits[c.content]
	if !said {
		f.folds.hits[c.content] = len(f.hits)
		f.folds.last[c.content] = c.hit.N
		return false
	}
	shown := &f.hits[i]
	if !c.hit.Replay && !shown.Replay {
		return false
	}
	if f.folds.last[c.content] != c.hit.N {
		shown.Replays++
		f.folds.last[c.content] = c.hit.N
	}
	if shown.Replay && !c.hit.Replay {
		c.hit.Replays = shown.Replays
		*shown = c.hit
	}
	return true
}
