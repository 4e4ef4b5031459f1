package store

import "time"

// holdMost is for how long a transaction goes on with work that can wait. No one
// else can write meanwhile, nor can capture in another process be taken in. The
// commit comes on top.
const holdMost = 6 * time.Millisecond

// enough reports whether a transaction has held the lock for so long that what can
// wait is left to the next one.
func (t *tx) enough() bool { return time.Since(t.w.since) >= holdMost }

// inSteps calls f for a list, so many of it at once, in transactions that change
// runs: each does as much as there is time for.
func inSteps[T any](change func(func(*tx) error) error, list []T, many int, f func(t *tx, some []T) error) error {
	for len(list) > 0 {
		rest := list
		err := change(func(t *tx) error {
			for rest = list; len(rest) > 0; {
				some := rest[:min(many, len(rest))]
				if err := f(t, some); err != nil {
					return err
				}
				if rest = rest[len(some):]; t.enough() {
					break
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		list = rest
	}
	return nil
}
