package view

import "iter"

// workAhead is how much is made before it is taken.
const workAhead = 64

// ahead gives what another sequence gives, of which a goroutine of its own makes so
// many in advance.
func ahead[T any](many int, seq iter.Seq[T]) iter.Seq[T] {
	return func(yield func(T) bool) {
		made, stop, stopped := make(chan T, many), make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			defer close(made)
			for one := range seq {
				select {
				case made <- one:
				case <-stop:
					return
				}
			}
		}()
		defer func() { close(stop); <-stopped }()
		for one := range made {
			if !yield(one) {
				return
			}
		}
	}
}
