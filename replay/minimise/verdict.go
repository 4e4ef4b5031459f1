package minimise

import (
	"fmt"
	"strings"
)

// verdict says in plain words what is decisive.
func (w *minimising) verdict(s *Smallest) string {
	if whole := &w.list[0]; !whole.Shows {
		if whole.Refused != "" {
			return "the provider refuses the whole request: " + whole.Refused
		}
		return fmt.Sprintf("the whole request does not show it: %d of %s, %d needed. Nothing can be left out of what does not show", whole.Yes, counted(whole.Asked, "answer"), s.AtLeast)
	}
	var parts []string
	share := func(sh Share, noun string) {
		parts = append(parts, fmt.Sprintf("%d of %s", sh.Kept, counted(sh.Of, noun)))
	}
	for _, part := range w.Parts {
		switch {
		case part == Items:
			share(s.Items, "item")
		case part == Lines && s.Lines.Of > 0:
			share(s.Lines, "line")
		case part == Tools && s.Tools.Of > 0:
			share(s.Tools, "tool")
		}
	}
	left := strings.Join(parts, ", ")
	required := 0
	for i := range s.Decisive {
		if s.Decisive[i].Required {
			required++
		}
	}
	switch {
	case !s.Least:
		return "not the smallest yet: " + left + " are left, and show it"
	case required == len(s.Decisive):
		return "nothing in the conversation is decisive: it shows with what the API wants alone"
	}
	return "decisive: " + left + ". Without any single one it does not show"
}

// counted writes a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
