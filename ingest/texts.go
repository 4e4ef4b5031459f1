package ingest

import (
	"strings"
	"unicode/utf8"

	"github.com/retake-debugger/retake/transcript"
)

const (
	textBytes   = 32 << 10 // neighbouring items share a text up to this
	partBytes   = 32 << 10 // longer items are indexed in parts
	partOverlap = 1 << 10  // the end of a part is the beginning of the next, so that no query is cut
)

// texts collects what is to be indexed of exchanges: the items that they
// brought, small ones together.
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
			t.alone(*it, settings[i])
			continue
		case len(it.Text) > partBytes:
			t.flush() // so that texts come in the order of their items
			t.alone(*it, transcript.Key{})
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

// alone makes texts of one item: of a long one its parts and, after them, its
// words.
func (t *texts) alone(item transcript.SearchItem, same transcript.Key) {
	add := func(text string, words bool) {
		item.Text = text
		t.list = append(t.list, transcript.SearchText{Items: []transcript.SearchItem{item}, Same: same, Words: words})
		if same != (transcript.Key{}) {
			same[0]++ // the next one is a text of its own
		}
	}
	text := item.Text
	if len(text) <= partBytes {
		add(text, false)
		return
	}
	for left := text; ; {
		end := len(left)
		if end > partBytes {
			end = runeStart(left, partBytes)
		}
		add(left[:end], false)
		if end == len(left) {
			break
		}
		left = left[runeStart(left, end-partOverlap):]
	}
	add(strings.Join(transcript.Words(transcript.Fold(text)), " "), true)
}

// runeStart gives where the character at byte i begins: i itself in what is not
// UTF-8.
func runeStart(s string, i int) int {
	for from := i; from > i-utf8.UTFMax && from >= 0; from-- {
		if utf8.RuneStart(s[from]) {
			return from
		}
	}
	return i
}

// searchText is what is indexed of an item: all its fields.
func searchText(it *transcript.Item) string {
	fields := it.Fields()
	parts := make([]string, len(fields))
	for i := range fields {
		parts[i] = fields[i].Text
	}
	return strings.Join(parts, "\n")
}
