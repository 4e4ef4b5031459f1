package files

import (
	"errors"
	"os"

	"github.com/retake-debugger/retake/formats"
)

// ErrTooLarge says that a file unpacks to more than the limit.
var ErrTooLarge = errors.New("the file unpacks to too much")

// scratch is a scratch file without a name: it is gone when it is closed, or when the
// program ends.
type scratch struct {
	*os.File
	im *importing
}

// Write implements formats.ScratchFile.
func (s *scratch) Write(p []byte) (int, error) {
	if s.im.used += int64(len(p)); s.im.MostScratch > 0 && s.im.used > s.im.MostScratch {
		return 0, ErrTooLarge
	}
	return s.File.Write(p)
}

func (im *importing) newScratch() (formats.ScratchFile, error) {
	f, err := os.CreateTemp("", "retake-import-")
	if err != nil {
		return nil, err
	}
	im.scratch = append(im.scratch, f)
	return &scratch{f, im}, os.Remove(f.Name())
}
