package safehtml

import (
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// newParser returns a parser of CommonMark with tables and strikethrough. It leaves
// out link definitions, because they would vanish from the page.
func newParser() parser.Parser {
	p := parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...), parser.WithInlineParsers(parser.DefaultInlineParsers()...))
	m := goldmark.New(goldmark.WithParser(p))
	extension.Table.Extend(m)
	extension.Strikethrough.Extend(m)
	return p
}

// markdown shows Markdown: its structure as elements, everything else as text.
// Links and pictures are shown as their addresses and are not clickable. HTML is
// text.
func (m *markup) markdown(s string) {
	if isLaborious(s) {
		m.broken(s)
		return
	}
	source := []byte(s)
	w := mdWriter{markup: m, source: source}
	w.children(newParser().Parse(text.NewReader(source)))
}

const (
	mostLinks  = 2000
	longestRow = 400    // of signs that open lists and quotations
	mostSigns  = 6000   // that may open or close something, in lines that no empty one parts
	mostCells  = 20_000 // of tables: a row has as many as the head, whatever is in it
)

// isLaborious reports whether a text would take the parser very long or expand into
// much more HTML. The parser's time grows with the square of these counts. Text
// written for readers stays below them.
func isLaborious(s string) bool {
	if strings.Count(s, "](") > mostLinks {
		return true
	}
	signs, columns, cells := 0, 0, 0
	for line := range strings.Lines(s) {
		if len(line) > longestRow && len(line)-len(strings.TrimLeft(line, " \t>-*+.)0123456789")) > longestRow {
			return true
		}
		if strings.TrimSpace(line) == "" {
			signs, columns = 0, 0
			continue
		}
		for _, c := range []byte(line) {
			if strings.IndexByte("*_~`[]<!", c) >= 0 {
				signs++
			}
		}
		if strings.Trim(strings.TrimLeft(line, " \t>*+.)0123456789"), " \t\r\n|:-") == "" { // the line below the head
			columns = max(columns, strings.Count(line, "|")+1)
		}
		if cells += columns; signs > mostSigns || cells > mostCells {
			return true
		}
	}
	return false
}

// mdWriter writes a tree of Markdown.
type mdWriter struct {
	*markup
	source []byte
	depth  int
}

func (w *mdWriter) children(n ast.Node) {
	if w.depth++; w.depth > deepest {
		w.text(string(n.Lines().Value(w.source))) // only the text of deeper levels
		w.depth--
		return
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		w.node(c)
	}
	w.depth--
}

func (w *mdWriter) inside(n ast.Node, element, class constant) {
	w.open(element, class)
	w.children(n)
	w.close(element)
}

func (w *mdWriter) node(n ast.Node) {
	if n.Type() == ast.TypeInline {
		w.inline(n)
		return
	}
	switch n := n.(type) {
	case *ast.Paragraph:
		w.inside(n, "p", "")
	case *ast.TextBlock:
		w.children(n)
	case *ast.Heading:
		w.inside(n, "p", headings[max(1, min(n.Level, 6))-1])
	case *ast.Blockquote:
		w.inside(n, "blockquote", "")
	case *ast.List:
		w.list(n)
	case *ast.FencedCodeBlock:
		info := ""
		if n.Info != nil {
			info = string(n.Info.Value(w.source))
		}
		w.code(n, info)
	case *ast.CodeBlock:
		w.code(n, "")
	case *ast.ThematicBreak:
		w.raw("<hr>")
	case *east.Table:
		w.raw(`<div class="md-table" tabindex="0"><table>`)
		w.children(n)
		w.raw("</table></div>")
	case *east.TableHeader:
		w.row(n, "th")
	case *east.TableRow:
		w.row(n, "td")
	default: // HTML and unknown nodes
		w.open("p", "")
		w.lines(n)
		w.children(n)
		w.close("p")
	}
}

var headings = [6]constant{"h h1", "h h2", "h h3", "h h4", "h h5", "h h6"}

// lines writes the lines of a block as they are.
func (w *mdWriter) lines(n ast.Node) {
	text := n.Lines().Value(w.source)
	if h, ok := n.(*ast.HTMLBlock); ok && h.HasClosure() {
		text = append(slices.Clip(text), h.ClosureLine.Value(w.source)...)
	}
	w.broken(strings.TrimRight(string(text), "\n"))
}

// broken writes text with its line breaks.
func (m *markup) broken(s string) {
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			m.raw("<br>")
		}
		m.text(line)
	}
}

func (w *mdWriter) list(n *ast.List) {
	element := constant("ul")
	if n.IsOrdered() {
		element = "ol"
	}
	w.open(element, "")
	number := n.Start
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		w.open("li", "")
		if n.IsOrdered() {
			w.span("no", count(number)+string(n.Marker))
			number++
		}
		w.children(c)
		w.close("li")
	}
	w.close(element)
}

func (w *mdWriter) row(n ast.Node, cell constant) {
	w.open("tr", "")
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		w.inside(c, cell, "")
	}
	w.close("tr")
}

func (w *mdWriter) code(n ast.Node, info string) {
	w.open("div", "code-block")
	if info != "" {
		w.span("lang", info)
	}
	w.open("pre", "")
	code := strings.TrimRight(string(n.Lines().Value(w.source)), "\n")
	w.shown(formOfBlock(info, code), code)
	w.close("pre")
	w.close("div")
}

// formOfBlock returns the form of a code block: by its info string, or else by its
// text.
func formOfBlock(info, code string) Form {
	name, _, _ := strings.Cut(strings.TrimLeft(info, "{. "), " ")
	name = strings.TrimRight(name, "}")
	if f := Named(name); f != Text {
		return f
	}
	if before, _, ok := strings.Cut(name, ":"); ok { // ts:src/a.ts
		return Named(before)
	}
	if f := FormOf(code); f != Text {
		return f
	}
	return OfBeginning(code)
}

func (w *mdWriter) inline(n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		w.text(unescaped(string(n.Segment.Value(w.source)), n.IsRaw()))
		if n.SoftLineBreak() || n.HardLineBreak() {
			w.raw("<br>")
		}
	case *ast.String:
		w.text(string(n.Value))
	case *ast.CodeSpan:
		w.inside(n, "code", "")
	case *ast.Emphasis:
		if n.Level > 1 {
			w.inside(n, "strong", "")
		} else {
			w.inside(n, "em", "")
		}
	case *east.Strikethrough:
		w.inside(n, "s", "")
	case *ast.Link:
		w.children(n)
		w.target(n.Destination, n.Title)
	case *ast.Image:
		w.text("picture: ")
		w.children(n)
		w.target(n.Destination, n.Title)
	case *ast.AutoLink:
		w.text("<" + string(n.Label(w.source)) + ">")
	case *ast.RawHTML:
		for i := range n.Segments.Len() {
			s := n.Segments.At(i)
			w.broken(string(s.Value(w.source)))
		}
	default:
		w.children(n)
	}
}

// target shows the address of a link as text.
func (w *mdWriter) target(destination, title []byte) {
	where := string(destination)
	if len(title) > 0 {
		where += ` "` + string(title) + `"`
	}
	w.text(" ")
	w.span("to", "("+where+")")
}

// unescaped removes the backslashes that escape markup.
func unescaped(s string, raw bool) string {
	if raw || !strings.Contains(s, `\`) {
		return s
	}
	return string(util.UnescapePunctuations([]byte(s)))
}
