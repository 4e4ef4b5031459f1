//go:build !unix

package spool

import (
	"errors"
	"os"
)

// lock takes the lock of an open folder.
func lock(*os.File) error { return errors.New("spools need file locks, which this system has not") }
