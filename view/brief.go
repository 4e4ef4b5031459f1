package view

import (
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

// cutText is what there is to know of a text of which only the beginning is kept.
type cutText struct {
	bytes int
	key   transcript.Key // of its item
}

// shorten keeps only the beginnings of the texts of a scene, if that is wanted: a
// list of calls shows no more, and a run may hold hundreds of megabytes.
func (a *acting) shorten(s *scene) {
	if a.brief == 0 {
		return
	}
	n := 0
	for _, items := range [][]transcript.Item{s.brought, s.answered} {
		for i := range items {
			it := &items[i]
			if len(it.Text) > a.brief {
				if s.cut == nil {
					s.cut = map[int]cutText{}
				}
				s.cut[n] = cutText{len(it.Text), transcript.KeyOf(it)}
			}
			it.Text, it.ArgumentsRaw = a.beginning(it.Text), a.beginning(it.ArgumentsRaw)
			it.Raw, it.Arguments = nil, nil
			n++
		}
	}
}

// beginning gives the beginning of a text, without the body that it is from.
func (a *acting) beginning(text string) string { return strings.Clone(Head(text, a.brief)) }

// sizeOf is how long the text of an item is that may have been cut.
func (a *acting) sizeOf(it *transcript.Item) int {
	if c, ok := a.cut[it]; ok {
		return c.bytes
	}
	return len(it.Text)
}

// sameItem tells whether two items say the same, cut or not.
func (a *acting) sameItem(x, y *transcript.Item) bool {
	one, isOne := a.cut[x]
	other, isOther := a.cut[y]
	if isOne || isOther {
		return one == other
	}
	return sameItem(x, y)
}
