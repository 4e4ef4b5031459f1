package view

import (
	"crypto/sha256"
	"strconv"

	"github.com/retake-debugger/retake/transcript"
)

// saying is what an item of a run says, ids of its own aside: replays say most things
// again.
type saying struct {
	run string
	key transcript.Key
}

func sayingOf(e *transcript.Exchange, it *transcript.Item, tool string) saying {
	h := sha256.New()
	parts := []string{string(it.Kind), it.Role, it.Name, tool, strconv.FormatBool(it.IsError), it.Text, it.ArgumentsRaw}
	if it.Kind == transcript.Other {
		parts = append(parts, string(it.Raw))
	}
	for _, part := range append(parts, it.Parts...) {
		h.Write([]byte(strconv.Itoa(len(part)) + ":" + part))
	}
	return saying{e.Link.Run, transcript.Key(h.Sum(nil)[:16])}
}

// folds puts what replays said again with the one hit that shows it.
type folds struct {
	hits map[saying]int // where among the hits
	last map[saying]int64
}

// fold tells whether a candidate needs no line of its own, since it is of a replay and
// its run has a hit that says the same, or takes the place of such a hit of a replay.
func (f *finder) fold(c *candidate) bool {
	if c.saying.run == "" || f.search.Each {
		return false
	}
	i, said := f.folds.hits[c.saying]
	if !said {
		f.folds.hits[c.saying] = len(f.hits)
		f.folds.last[c.saying] = c.hit.N
		return false
	}
	shown := &f.hits[i]
	if !c.hit.Replay && !shown.Replay {
		return false
	}
	if f.folds.last[c.saying] != c.hit.N {
		shown.Replays++
		f.folds.last[c.saying] = c.hit.N
	}
	if shown.Replay && !c.hit.Replay {
		c.hit.Replays = shown.Replays
		*shown = c.hit
	}
	return true
}
