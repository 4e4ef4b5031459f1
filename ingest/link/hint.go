package link

import (
	"crypto/sha256"
	"strconv"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/transcript"
)

// HintOf returns the hint for a value of that kind.
func HintOf(kind, value string) transcript.Key {
	h := sha256.New()
	h.Write([]byte(kind + "\x00"))
	h.Write([]byte(value))
	return transcript.Key(h.Sum(nil)[:16])
}

// mostItems bounds how many items of an answer can be referred to.
const mostItems = 16

// putHints stores the hints by which later exchanges find this one, and its pending
// links.
func putHints(tx transcript.Tx, d *Subject, pending []transcript.Key) error {
	for _, key := range pending {
		if err := tx.PutHint(key, d.Exchange.ID, ""); err != nil {
			return err
		}
	}
	if id := d.Turn.Conversation; id != "" {
		if err := tx.PutHint(HintOf("conversation", id), d.Exchange.ID, ""); err != nil {
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

// putItems stores hints for the items of an answer that later requests can refer to.
func putItems(tx transcript.Tx, d *Subject) error {
	referable := dialect.Of(d.Exchange.Dialect).Referable
	if referable == nil {
		return nil
	}
	for i := range min(mostItems, len(d.Turn.Output)) {
		it := &d.Turn.Output[i]
		if !referable(d.Turn, it) {
			continue
		}
		if err := tx.PutHint(HintOf("item", it.ItemID), d.Exchange.ID, ""); err != nil {
			return err
		}
	}
	return nil
}

// putChoices stores hints for the histories that end with another choice than the
// first.
func putChoices(tx transcript.Tx, d *Subject) error {
	choices := map[int][]transcript.Item{}
	for _, it := range d.Turn.Output {
		if n := it.Choice; n > 0 {
			it.Choice = 0
			choices[n] = append(choices[n], it)
		}
	}
	for n, items := range choices {
		nodes := transcript.Chain(d.Exchange.Link.InNode, transcript.Keys(items))
		if len(nodes) == 0 || nodes[len(nodes)-1] == d.Exchange.Link.OutNode {
			continue
		}
		if err := tx.PutHint(HintOf("choice", string(nodes[len(nodes)-1][:])), d.Exchange.ID, strconv.Itoa(n)); err != nil {
			return err
		}
	}
	return nil
}
