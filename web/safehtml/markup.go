package safehtml

import (
	"html/template"
	"strings"
)

// markup is HTML that is being written. Names of elements and classes are
// constants of this package.
type markup struct{ b strings.Builder }

// constant is what may appear in HTML unescaped: only literals convert to it.
type constant string

// text writes a text, escaped, with what cannot be seen marked.
func (m *markup) text(s string) {
	for _, r := range Runs(s) {
		if r.Mark {
			m.mark(r.Text)
			continue
		}
		template.HTMLEscape(&m.b, []byte(r.Text))
	}
}

// mark writes a visible mark for invisible characters.
func (m *markup) mark(s string) {
	m.b.WriteString(`<span class="mark">`)
	template.HTMLEscape(&m.b, []byte(s))
	m.b.WriteString(`</span>`)
}

func (m *markup) raw(s constant) { m.b.WriteString(string(s)) }

func (m *markup) open(element, class constant) {
	m.raw("<")
	m.raw(element)
	if class != "" {
		m.raw(` class="`)
		m.raw(class)
		m.raw(`"`)
	}
	m.raw(">")
}

func (m *markup) close(element constant) {
	m.raw("</")
	m.raw(element)
	m.raw(">")
}

// span writes a text in an element of a class.
func (m *markup) span(class constant, s string) {
	m.open("span", class)
	m.text(s)
	m.close("span")
}

func (m *markup) html() template.HTML {
	return template.HTML(m.b.String()) //nolint:gosec // text was escaped, all else is constant
}
