package web

import (
	"slices"
	"strings"

	"github.com/retake-debugger/retake/files"
)

// exportMenu offers the forms in which the content of a page can be exported.
type exportMenu struct {
	All   string // the page of all forms, with their options
	Items []exportItem
}

type exportItem struct{ Name, Href string }

// menuForms are the forms in a menu. The others are on the page of all forms.
var menuForms = []string{"html", "markdown", "few-shot", "openai-chat", "jsonl", "har", "otlp-json", "csv", "archive"}

// newExportMenu returns the menu for a page of exports. For a single exchange it
// offers programs as well.
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
