package store

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/mattn/go-sqlite3"

	"github.com/retake-debugger/retake/transcript"
)

// IsFull reports whether there was no room on the disk.
func IsFull(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && (e.Code == sqlite3.ErrFull || e.SystemErrno == syscall.ENOSPC) || errors.Is(err, syscall.ENOSPC)
}

// isCorrupt reports whether SQLite found the file to be damaged. That there is no
// room, which reading wants too for the index of the log, is none.
func isCorrupt(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && !IsFull(err) && (e.Code == sqlite3.ErrCorrupt || e.Code == sqlite3.ErrIoErr || e.Code == sqlite3.ErrNotADB)
}

// damaged says of an error about one exchange that it is damage, unless it only
// says that reading was interrupted.
func damaged(err error) error {
	var e sqlite3.Error
	switch {
	case err == nil, errors.Is(err, transcript.ErrDamaged), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, errTxDone):
		return err
	case errors.As(err, &e) && !isCorrupt(err):
		return err
	}
	return fmt.Errorf("%w: %w", transcript.ErrDamaged, err)
}
