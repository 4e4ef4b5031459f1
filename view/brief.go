package view

import (
	"encoding/binary"
	"hash/maphash"
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

// brevity keeps only the beginnings of the texts of items, and of their source
// nothing: a list of calls shows no more, and a run may hold hundreds of megabytes.
type brevity struct {
	most int // bytes of a text
	seed maphash.Seed
}

func newBrevity(most int) *brevity { return &brevity{most, maphash.MakeSeed()} }

// of gives items cut.
func (b *brevity) of(items []transcript.Item) []transcript.Item {
	list, cuts := make([]transcript.Item, len(items)), make([]transcript.Cut, len(items))
	for i := range items {
		it := &list[i]
		*it, cuts[i] = items[i], transcript.Cut{Text: len(items[i].Text), Arguments: len(items[i].ArgumentsRaw), Raw: len(items[i].Raw), Key: b.key(&items[i])}
		it.Text, it.ArgumentsRaw = b.beginning(it.Text), b.beginning(it.ArgumentsRaw)
		if items[i].InChain() && !it.InChain() { // it begins with nothing but white space
			it.Text = strings.Clone(items[i].Text)
		}
		it.Raw, it.Arguments, it.Cut = nil, nil, &cuts[i]
	}
	return list
}

// beginning gives the beginning of a text, without the body that it is from.
func (b *brevity) beginning(text string) string { return strings.Clone(Head(text, b.most)) }

// key is the key of an item, of a long text made from a hash that is faster.
func (b *brevity) key(it *transcript.Item) transcript.Key {
	if len(it.Text) <= b.most || it.Kind == transcript.Other || it.Kind == transcript.MessageItem {
		return transcript.KeyOf(it)
	}
	rest := *it
	rest.Text = ""
	key := transcript.KeyOf(&rest)
	sum := binary.LittleEndian.Uint64(key[:]) ^ maphash.String(b.seed, it.Text)
	binary.LittleEndian.PutUint64(key[:], sum)
	return key
}

// sizes are how long the texts and the source of an item are, cut or not.
func sizes(it *transcript.Item) (text, arguments, raw int) {
	if c := it.Cut; c != nil {
		return c.Text, c.Arguments, c.Raw
	}
	return len(it.Text), len(it.ArgumentsRaw), len(it.Raw)
}

func textSize(it *transcript.Item) int {
	text, _, _ := sizes(it)
	return text
}
