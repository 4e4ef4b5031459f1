package ingest

import (
	"strings"
	"unicode/utf8"

	"github.com/retake-debugger/retake/transcript"
)

const (
	textBytes    = 1280     // neighbouring items share a text up to this
	partBytes    = 8 << 10  // longer items are indexed in parts
	settingBytes = 32 << 10 // and longer settings, which are kept once
)

// texts collects what is to be indexed of exchanges: the items that they introduced,
// small ones together.
type texts struct {
	list []transcript.SearchText
	text transcript.SearchText // is collected
	size int                   // of it
}

func (t *texts) add(items []transcript.SearchItem, settings []transcript.Key) {
	for i := range items {
		it := &items[i]
		switch {
		case settings[i] != transcript.Key{}:
			t.alone(*it, settings[i], settingBytes)
			continue
		case len(it.Text) > partBytes:
			t.flush() // so that texts come in the order of their items
			t.alone(*it, transcript.Key{}, partBytes)
			continue
		case t.size > 0 && (t.size+len(it.Text) > textBytes || it.Exchange >= t.text.Items[0].Exchange+transcript.MostExchanges):
			t.flush()
		}
		t.text.Items = append(t.text.Items, *it)
		t.size += len(it.Text)
	}
}

func (t *texts) flush() {
	if len(t.text.Items) > 0 {
		t.list = append(t.list, t.text)
		t.text, t.size = transcript.SearchText{}, 0
	}
}

// alone makes texts of one item. Of one of more than most bytes these are its parts and,
// after them, its words, so that a search for several words finds it though they are in
// different parts.
func (t *texts) alone(item transcript.SearchItem, same transcript.Key, most int) {
	add := func(text string, part, words bool) {
		item.Text = text
		t.list = append(t.list, transcript.SearchText{Items: []transcript.SearchItem{item}, Same: same, Part: part, Words: words})
		if same != (transcript.Key{}) {
			same[0]++ // the next one is a text of its own
		}
	}
	if len(item.Text) <= most {
		add(item.Text, false, false)
		return
	}
	folded := transcript.Fold(item.Text) // which is UTF-8
	for left := folded; ; {
		end := runeStart(left, most)
		add(left[:end], true, false)
		if end == len(left) {
			break
		}
		left = left[runeStart(left, end-transcript.SearchOverlap):]
	}
	add(strings.Join(transcript.Words(folded), " "), false, true)
}

// runeStart returns where the character at byte i begins; the end of a shorter text.
func runeStart(s string, i int) int {
	if i >= len(s) {
		return len(s)
	}
	for !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

// searchText returns what is indexed of an item: all its fields.
func searchText(it *transcript.Item) string {
	fields := it.Fields()
	parts := make([]string, len(fields))
	for i := range fields {
		parts[i] = fields[i].Text
	}
	return strings.Join(parts, "\n")
}
