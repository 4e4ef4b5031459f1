package link

import (
	"errors"

	"github.com/retake-debugger/retake/transcript"
)

// choose returns one of several exchanges, newest first, that fit equally well: of
// the same label if the exchange has one, of the agent that the client names,
// preferably no replay, preferably one that nothing continues yet, preferably the
// latest. of is how many there were to choose from.
func (k *linker) choose(found []*transcript.Exchange) (best *transcript.Exchange, of int, err error) {
	var fits []*transcript.Exchange
	for _, e := range found {
		if !k.before(e) || k.run != "" && e.Link.Run != k.run {
			continue
		}
		ok, err := k.mayJoin(e)
		if err != nil {
			return nil, 0, err
		}
		if ok {
			fits = append(fits, e)
		}
	}
	if len(fits) < 2 {
		return first(fits), len(fits), nil
	}
	bestScore := -1
	for _, e := range fits {
		score, err := k.score(e)
		if err != nil {
			return nil, 0, err
		}
		if score > bestScore {
			best, bestScore = e, score
		}
	}
	return best, len(fits), nil
}

// before reports whether an exchange began before this one: whatever came first,
// nothing continues what began later.
func (k *linker) before(e *transcript.Exchange) bool {
	return e.ID != k.d.Exchange.ID && !e.BeganAfter(k.d.Exchange)
}

func first(found []*transcript.Exchange) *transcript.Exchange {
	if len(found) == 0 {
		return nil
	}
	return found[0]
}

func (k *linker) score(e *transcript.Exchange) (int, error) {
	_, err := k.tx.TakePlace(e.ID)
	if err != nil && !errors.Is(err, transcript.ErrNotFound) {
		return 0, err
	}
	own := err != nil
	extended, err := k.tx.Extended(e.ID)
	score := 0
	if own {
		score += 2
	}
	if !extended {
		score++
	}
	return score, err
}
