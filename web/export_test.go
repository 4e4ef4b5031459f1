package web

import (
	"bytes"

	"github.com/retake-debugger/retake/view"
)

// RenderTranscript prints the page of a transcript that no store holds.
func RenderTranscript(t *view.Transcript, all bool) ([]byte, error) {
	s := &server{now: t.Exchange.StartedAt.Local, assets: readAssets()}
	s.pages = parsePages(s)
	h := exchangeHead{Row: &t.Exchange.Row, Tab: "transcript", Model: t.Exchange.Model, Warnings: t.Exchange.Warnings, Heading: t.Exchange.Preview}
	h.Title = t.Exchange.Ref() + " " + oneLine(h.Heading, 60)
	var b bytes.Buffer
	err := s.pages.ExecuteTemplate(&b, "transcript", newTranscriptPage(h, t, all))
	return b.Bytes(), err
}
