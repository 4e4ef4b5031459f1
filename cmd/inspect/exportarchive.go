package main

import (
	"io"

	"github.com/retake-debugger/retake/formats"
	"github.com/retake-debugger/retake/transcript"
)

// archive writes what was chosen, everything if nothing is.
func (x *exporting) archive(w io.Writer) error {
	words := x.db.AsOf(int64(1) << 62)
	a, err := formats.NewArchive(x.ctx, x.reader, w, &x.lost)
	if err != nil {
		return err
	}
	x.o.chunks = true // listings leave them out
	if err := x.exchanges(true, func(e *transcript.Exchange) error { return a.Add(e) }); err != nil {
		return err
	}
	return a.Close(words)
}
