//go:build unix

package spool

import (
	"errors"
	"os"
	"syscall"
)

// lock locks an open folder without waiting. It returns errLocked if another
// process has.
func lock(d *os.File) error {
	err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errLocked
	}
	return err
}
