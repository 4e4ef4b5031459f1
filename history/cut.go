package history

import (
	"encoding/binary"
	"hash/maphash"
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

// cutter keeps the beginnings of the texts of items alone, and nothing of their source:
// a list of calls shows no more, and a run may hold hundreds of megabytes.
type cutter struct {
	most int // bytes of a text
	seed maphash.Seed
}

func newCutter(most int) *cutter { return &cutter{most, maphash.MakeSeed()} }

// of returns items, cut.
func (c *cutter) of(items []transcript.Item) []transcript.Item {
	list, cuts := make([]transcript.Item, len(items)), make([]transcript.Cut, len(items))
	for i := range items {
		it := &list[i]
		*it, cuts[i] = items[i], transcript.Cut{Text: len(items[i].Text), Arguments: len(items[i].ArgumentsRaw), Raw: len(items[i].Raw), Key: c.key(&items[i])}
		it.Text, it.ArgumentsRaw = c.beginning(it.Text), c.beginning(it.ArgumentsRaw)
		if items[i].InChain() && !it.InChain() { // it begins with nothing but white space
			it.Text = strings.Clone(items[i].Text)
		}
		it.Raw, it.Arguments, it.Cut = nil, nil, &cuts[i]
	}
	return list
}

// beginning returns the beginning of a text, without holding the body that it is from.
func (c *cutter) beginning(text string) string { return strings.Clone(transcript.Head(text, c.most)) }

// key returns the key of an item. Of a long text it uses a faster hash.
func (c *cutter) key(it *transcript.Item) transcript.Key {
	if len(it.Text) <= c.most || it.Kind == transcript.Other || it.Kind == transcript.MessageItem {
		return transcript.KeyOf(it)
	}
	rest := *it
	rest.Text = ""
	key := transcript.KeyOf(&rest)
	sum := binary.LittleEndian.Uint64(key[:]) ^ maphash.String(c.seed, it.Text)
	binary.LittleEndian.PutUint64(key[:], sum)
	return key
}

// Cut returns items as CutItems does.
func (q *Reader) Cut(items []transcript.Item) []transcript.Item { return q.cutter.of(items) }
