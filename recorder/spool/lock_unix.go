//go:build unix

package spool

import (
	"errors"
	"os"
	"syscall"
)

// lock takes the lock of an open folder without waiting. errHeld if somebody has it.
func lock(d *os.File) error {
	err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errLocked
	}
	return err
}
