package view

import (
	"errors"
	"fmt"

	"github.com/retake-debugger/retake/transcript"
)

// Why an exchange that another one points at cannot be shown.
const (
	Pruned  = "pruned"  // it was removed
	Damaged = "damaged" // the database is damaged there
)

// lost tells why an exchange cannot be shown; "" where the error means that
// nothing can.
func lost(err error) string {
	switch {
	case errors.Is(err, transcript.ErrDamaged):
		return Damaged
	case errors.Is(err, transcript.ErrNotFound):
		return Pruned
	}
	return ""
}

// unreadable collects the exchanges of a listing that are damaged.
type unreadable struct {
	count int
	first error
}

// take gives false if the error ends the listing.
func (u *unreadable) take(err error) bool {
	if !errors.Is(err, transcript.ErrDamaged) {
		return false
	}
	if u.count++; u.first == nil {
		u.first = err
	}
	return true
}

// err says how many there were; nil if there were none.
func (u *unreadable) err() error {
	if u.count < 2 {
		return u.first
	}
	return fmt.Errorf("%d exchanges cannot be read, the first of them %w", u.count, u.first)
}
