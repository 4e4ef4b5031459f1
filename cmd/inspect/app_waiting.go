package main

import (
	"fmt"

	"github.com/retake-debugger/retake"
	"github.com/retake-debugger/retake/recorder/spool"
)

// tellWaiting prints a line if exchanges of a killed recorder are not in the
// database yet or cannot be read.
func (a *app) tellWaiting() {
	path, err := a.path()
	if err != nil {
		return
	}
	// Errors of the spool are reported by doctor.
	w, err := spool.Abandoned(retake.SpoolDir(path))
	if err == nil && w.Exchanges > 0 {
		fmt.Fprintln(a.err, "inspect: "+waitingLine(w))
	}
	if err == nil && w.Damaged > 0 {
		fmt.Fprintln(a.err, "inspect: "+damagedLine(w))
	}
}

func waitingLine(w spool.Waiting) string {
	are, them, more := "are", "them", ""
	if w.Exchanges == 1 {
		are, them = "is", "it"
	}
	if w.OrMore() {
		more = " or more"
	}
	return fmt.Sprintf("%s%s exchange%s of a recorder that was killed %s in its spool, not in the database; the next start of recorder takes %s in",
		number(int64(w.Exchanges)), more, plural(w.Exchanges), are, them)
}

func damagedLine(w spool.Waiting) string {
	return fmt.Sprintf("the spool of a recorder that was killed is damaged in %s place%s: what was recorded there is lost, whole or in part; the rest can be taken in",
		number(int64(w.Damaged)), plural(w.Damaged))
}
