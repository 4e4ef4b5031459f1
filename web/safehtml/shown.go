package safehtml

import (
	"html/template"
	"strconv"
)

// Shown is a text as HTML.
type Shown = template.HTML

func count(n int) string { return strconv.Itoa(n) }
