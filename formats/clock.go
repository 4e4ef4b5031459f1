package formats

import "time"

// when formats a time for people.
func when(t time.Time) string {
	if t.IsZero() {
		return "at a time that is not known"
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// clock follows the times in the records of a file. now is the time of the last one,
// zero if no record has one. Times do not go back.
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
