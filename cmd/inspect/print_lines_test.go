package main

import (
	"slices"
	"strings"
	"testing"
)

func TestLabelled_BeginsWithTheFirstLineThatSaysSomething(t *testing.T) {
	for text, want := range map[string]string{
		"You are an agent.\nBe brief.":   "system      You are an agent.\n            … 1 more line, 27 B in all\n",
		"\n \t\nYou are an agent.\nBe.":  "system      You are an agent.\n            … 1 more line, 21 B in all\n",
		"\n\nYou are an agent.":          "system      You are an agent.\n",
		"  indented stays\nas it stands": "system        indented stays\n            … 1 more line, 29 B in all\n",
	} {
		var out strings.Builder
		p := &printer{columns: 60, to: &out}
		p.labelled("", "system", dim, text, linesQuiet)
		if out.String() != want {
			t.Errorf("%q is printed as\n%swant\n%s", text, out.String(), want)
		}
	}
}

// Spaces at the end of a line may stand beyond it.
func TestWrap_BreaksAtSpacesAndLosesNothing(t *testing.T) {
	for text, want := range map[string][]string{
		"one two three":       {"one two ", "three"},
		"a word toolongtofit": {"a word ", "toolongt", "ofit"},
		"宽字 宽字 宽字":            {"宽字 ", "宽字 ", "宽字"},
		"short":               {"short"},
		"ends in a space  ":   {"ends in ", "a space  "},
	} {
		got := wrap(text, 8)
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if strings.Join(got, "") != text {
			t.Errorf("%q: %q loses something", text, got)
		}
	}
	for _, unit := range []string{"宽", "x", "👩‍👩‍👧 ", "e\u0301", " "} { // takes minutes where each line reads to the end
		text := strings.Repeat(unit, 500_000)
		if got := wrap(text, 80); strings.Join(got, "") != text {
			t.Errorf("%d lines of %q lose something", len(got), unit)
		}
	}
}
