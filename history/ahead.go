package history

import "iter"

// MaxAhead is how many values Ahead makes in advance if they are small.
const MaxAhead = 64

// Ahead returns the values of seq, which a goroutine makes up to that many in advance.
func Ahead[T any](many int, seq iter.Seq[T]) iter.Seq[T] {
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
