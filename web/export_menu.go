package web

import (
	"slices"
	"strings"

	"github.com/retake-debugger/retake/files"
)

// exportMenu offers the forms in which what a page shows can be taken elsewhere.
type exportMenu struct {
	All   string // the page of all forms, with their options
	Items []exportItem
}

type exportItem struct{ Name, Href string }

// menuForms are those that a menu names: the others are on the page of all.
var menuForms = []string{"html", "markdown", "few-shot", "openai-chat", "jsonl", "har", "otlp-json", "csv", "archive"}

// newExportMenu makes the menu over a page of exports. Of a single exchange it
// offers programs, too.
func newExportMenu(page string, one bool) exportMenu {
	m := exportMenu{All: page}
	between := "?"
	if strings.Contains(page, "?") {
		between = "&"
	}
	for _, f := range files.Forms() {
		if slices.Contains(menuForms, f.Name) || one && (f.Name == "curl" || f.Name == "python" || f.Name == "go") {
			m.Items = append(m.Items, exportItem{f.Name, page + between + "format=" + f.Name})
		}
	}
	slices.SortStableFunc(m.Items, func(a, b exportItem) int { return formRank(a.Name) - formRank(b.Name) })
	return m
}
