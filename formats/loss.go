package formats

import "fmt"

// Losses counts what a format could not carry, in order of first occurrence. The zero
// Losses is ready for use.
type Losses struct {
	count map[string]int
	order []string
}

// Add counts a loss.
func (l *Losses) Add(what string) { l.add(what) }

func (l *Losses) add(what string) { l.addMany(what, 1) }

func (l *Losses) addMany(what string, n int) {
	if n <= 0 {
		return
	}
	if l.count == nil {
		l.count = map[string]int{}
	}
	if l.count[what] == 0 {
		l.order = append(l.order, what)
	}
	l.count[what] += n
}

// List returns each loss with its count, such as "reasoning (3)".
func (l *Losses) List() []string {
	out := make([]string, len(l.order))
	for i, what := range l.order {
		out[i] = fmt.Sprintf("%s (%d)", what, l.count[what])
	}
	return out
}
