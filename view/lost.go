package view

import (
	"errors"
	"fmt"

	"github.com/retake-debugger/retake/transcript"
)

// Reasons why the target of a link cannot be shown.
const (
	Pruned  = "pruned"  // it was removed
	Damaged = "damaged" // the database is damaged there
)

// lost returns why an exchange cannot be shown; "" if the error means that nothing
// can be shown.
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

// take returns false if the error ends the listing.
func (u *unreadable) take(err error) bool {
	if !errors.Is(err, transcript.ErrDamaged) {
		return false
	}
	if u.count++; u.first == nil {
		u.first = err
	}
	return true
}

// err returns an error with their number; nil if there were none.
func (u *unreadable) err() error {
	if u.count < 2 {
		return u.first
	}
	return fmt.Errorf("%d exchanges cannot be read, the first of them %w", u.count, u.first)
}
