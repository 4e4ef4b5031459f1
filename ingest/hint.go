package ingest

import (
	"crypto/sha256"
	"strconv"

	"github.com/retake-debugger/retake/transcript"
)

// hintOf returns the hint for a value of that kind.
func hintOf(kind, value string) transcript.Key {
	h := sha256.New()
	h.Write([]byte(kind + "\x00"))
	h.Write([]byte(value))
	return transcript.Key(h.Sum(nil)[:16])
}

// mostItems bounds how many items of an answer can be referred to.
const mostItems = 16

// putHints stores the hints by which later exchanges find this one, and its pending
// links.
func putHints(tx transcript.Tx, d *decoded, pending []transcript.Key) error {
	for _, key := range pending {
		if err := tx.PutHint(key, d.exchange.ID, ""); err != nil {
			return err
		}
	}
	if id := d.turn.Conversation; id != "" {
		if err := tx.PutHint(hintOf("conversation", id), d.exchange.ID, ""); err != nil {
			return err
		}
	}
	if err := putItems(tx, d); err != nil {
		return err
	}
	if err := putChoices(tx, d); err != nil {
		return err
	}
	return putFingerprints(tx, d)
}

// putItems stores hints for the items of an answer that can be referred to: the
// provider keeps them, or they are a compaction.
func putItems(tx transcript.Tx, d *decoded) error {
	if d.exchange.Dialect != transcript.Responses {
		return nil
	}
	kept := string(d.turn.Parameters["store"]) != "false"
	for i := range min(mostItems, len(d.turn.Output)) {
		it := &d.turn.Output[i]
		if it.ItemID == "" || !kept && it.Kind != transcript.Compaction {
			continue
		}
		if err := tx.PutHint(hintOf("item", it.ItemID), d.exchange.ID, ""); err != nil {
			return err
		}
	}
	return nil
}

// putChoices stores hints for the histories that end with another choice than the
// first.
func putChoices(tx transcript.Tx, d *decoded) error {
	choices := map[int][]transcript.Item{}
	for _, it := range d.turn.Output {
		if n := it.Choice; n > 0 {
			it.Choice = 0
			choices[n] = append(choices[n], it)
		}
	}
	for n, items := range choices {
		nodes := transcript.Chain(d.exchange.Link.InNode, transcript.Keys(items))
		if len(nodes) == 0 || nodes[len(nodes)-1] == d.exchange.Link.OutNode {
			continue
		}
		if err := tx.PutHint(hintOf("choice", string(nodes[len(nodes)-1][:])), d.exchange.ID, strconv.Itoa(n)); err != nil {
			return err
		}
	}
	return nil
}
