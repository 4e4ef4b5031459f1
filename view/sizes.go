package view

import "github.com/retake-debugger/retake/transcript"

// sizes returns the lengths of the texts and the source of an item, before any cut.
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
