package formats

import "time"

// when shows a moment to be read.
func when(t time.Time) string {
	if t.IsZero() {
		return "at a time that is not known"
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// clock follows the times that the records of a file carry. Now is the time of the
// last of them, zero if it has none: nobody knows then how late it is. Times do not
// run back.
type clock struct{ now, latest time.Time }

func (c *clock) at(t time.Time) {
	if c.now = t; t.IsZero() {
		return
	}
	if t.Before(c.latest) {
		c.now = c.latest
	}
	c.latest = c.now
}
