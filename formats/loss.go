package formats

import "fmt"

// Losses counts what a format could not carry, in the order in which it came up.
// The zero Losses is ready.
type Losses struct {
	count map[string]int
	order []string
}

// Add counts a loss of somebody else's.
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

// List gives each loss with how often it came up, such as "reasoning (3)".
func (l *Losses) List() []string {
	out := make([]string, len(l.order))
	for i, what := range l.order {
		out[i] = fmt.Sprintf("%s (%d)", what, l.count[what])
	}
	return out
}
