package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// printJSON writes v as the only document of the output.
func (a *app) printJSON(v any) error {
	e := newJSON(a.out)
	e.SetIndent("", "  ")
	return e.Encode(rawjson.Shallow(v))
}

// time formats a time: short for people, RFC 3339 for programs.
func (a *app) time(t time.Time) string {
	if t.IsZero() {
		return a.unknown()
	}
	if a.terminal() {
		return t.Local().Format("01-02 15:04:05")
	}
	return t.Local().Format(time.RFC3339)
}

// when formats a time that may be unknown.
func (a *app) when(t *time.Time) string {
	if t == nil {
		return a.unknown()
	}
	return a.time(*t)
}

// moment formats a time for a line of facts.
func (a *app) moment(t *time.Time) string {
	if t == nil {
		return "time not known"
	}
	return a.time(*t)
}

// unknown is the table cell for an unknown value.
func (a *app) unknown() string {
	if a.terminal() {
		return dash
	}
	return ""
}

const dash = "—"

func orDash(s string) string { return cmp.Or(s, dash) }

// visible makes control characters of a recorded text harmless and visible: they
// must not move the cursor, colour the terminal or reorder the line.
func visible(s string) string {
	if isPlain(s) {
		return s
	}
	clean := true
	for _, r := range s {
		if hidden(r) {
			clean = false
			break
		}
	}
	if clean && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\r':
			b.WriteString(`\r`)
		case hidden(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isPlain reports whether a text is printable ASCII. Most texts are, and the check
// is fast.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < ' ' || c > '~') && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// hidden reports whether a terminal would interpret a character instead of printing
// it.
func hidden(r rune) bool {
	if r >= ' ' && r < 0x7f || r == '\n' || r == '\t' {
		return false
	}
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) && r != '\u200d' || r == '\u2028' || r == '\u2029'
}

// cut shortens a line to that many columns.
func cut(s string, columns int) string {
	if displaywidth.String(s) <= columns {
		return s
	}
	return displaywidth.TruncateString(s, columns, "…")
}

// word formats a recorded name or id: harmless, and on one line, so that it cannot
// pass for output of this program.
func word(s string) string { return visible(oneLine(s)) }

// oneLine folds white space to put a text on one line.
func oneLine(s string) string {
	if isOneLine(s) {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}

// isOneLine reports whether plain text contains only single spaces as white space.
func isOneLine(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c > '~' || c == ' ' && (i == 0 || i == len(s)-1 || s[i-1] == ' ') {
			return false
		}
	}
	return true
}

// size formats a number of bytes for people.
func size(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1000)
	case n < 1000_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1000_000)
	}
	return fmt.Sprintf("%.2f GB", float64(n)/1000_000_000)
}

// duration formats a duration for people.
func duration(ms *float64) string {
	switch {
	case ms == nil:
		return ""
	case *ms < 1:
		return "< 1 ms"
	case *ms < 1000:
		return fmt.Sprintf("%.0f ms", *ms)
	case *ms < 60_000:
		return fmt.Sprintf("%.2f s", *ms/1000)
	}
	seconds := int64(math.Round(*ms / 1000))
	if seconds < 3600 {
		return fmt.Sprintf("%d m %02d s", seconds/60, seconds%60)
	}
	return fmt.Sprintf("%d h %02d m", seconds/3600, seconds/60%60)
}

// table prints aligned columns on a terminal and tab-separated ones elsewhere.
type table struct {
	app    *app
	header []string
	rows   [][]string
	narrow []string // columns to leave out on a narrow terminal, first ones first
	right  []string // columns of numbers
	last   int      // minimum width of the last column
	bare   bool     // the header was printed already
}

// table returns a table with these columns. Of "took|took_ms", took is for people
// and took_ms for programs, which get one unit per column.
func (a *app) table(header ...string) *table {
	for i, name := range header {
		if eyes, programs, both := strings.Cut(name, "|"); both {
			if header[i] = programs; a.terminal() {
				header[i] = eyes
			}
		}
	}
	return &table{app: a, header: header, last: lastColumn}
}

func (t *table) row(cells ...string) {
	for i := range cells {
		cells[i] = oneLine(cells[i])
	}
	t.rows = append(t.rows, cells)
}

func (t *table) print() error {
	if !t.app.terminal() {
		if !t.bare {
			t.rows = append([][]string{t.header}, t.rows...)
		}
		for _, row := range t.rows {
			if _, err := fmt.Fprintln(t.app.out, strings.Join(row, "\t")); err != nil {
				return err
			}
		}
		return nil
	}
	t.dropEmpty()
	t.fit(t.app.width())
	align := make([]tw.Align, len(t.header))
	for i, name := range t.header {
		if align[i] = tw.AlignLeft; slices.Contains(t.right, name) {
			align[i] = tw.AlignRight
		}
	}
	none := tw.Border{Left: tw.Off, Right: tw.Off, Top: tw.Off, Bottom: tw.Off}
	out := tablewriter.NewTable(t.app.out,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{Borders: none, Settings: tw.Settings{Separators: tw.SeparatorsNone, Lines: tw.LinesNone}})),
		tablewriter.WithPadding(tw.Padding{Left: "", Right: "  ", Overwrite: true}),
		tablewriter.WithAlignment(align),
		tablewriter.WithHeaderAutoFormat(tw.Off), tablewriter.WithRowAutoWrap(tw.WrapNone), tablewriter.WithHeaderAlignmentConfig(tw.CellAlignment{Global: tw.AlignLeft, PerColumn: align}))
	if !t.bare {
		out.Header(t.header)
	}
	for _, row := range t.rows {
		if err := out.Append(row); err != nil {
			return err
		}
	}
	return out.Render()
}

// dropEmpty removes empty columns, except the first, the last and those in but.
func (t *table) dropEmpty(but ...string) {
	if len(t.rows) == 0 || t.bare {
		return
	}
	for i := len(t.header) - 2; i > 0; i-- {
		if !slices.Contains(but, t.header[i]) && !slices.ContainsFunc(t.rows, func(row []string) bool { return row[i] != "" }) {
			t.drop(i)
		}
	}
}

// lastColumn is the usual minimum width of the last column.
const lastColumn = 24

// fit removes columns until the last one has enough width, and shortens that one to
// the rest.
func (t *table) fit(width int) {
	for _, name := range t.narrow {
		if width-t.used() >= t.last {
			break
		}
		if column := slices.Index(t.header, name); column >= 0 {
			t.drop(column)
		}
	}
	last := len(t.header) - 1
	for _, row := range t.rows {
		row[last] = cut(row[last], max(width-t.used()-2, 8)) // it is padded too
	}
}

// used returns the width of all columns but the last.
func (t *table) used() int {
	used := 0
	for i := range len(t.header) - 1 {
		used += t.widest(i) + 2
	}
	return used
}

// widest returns the width of a column.
func (t *table) widest(column int) int {
	widest := displaywidth.String(t.header[column])
	for _, row := range t.rows {
		widest = max(widest, displaywidth.Options{ControlSequences: true}.String(row[column]))
	}
	return widest
}

func (t *table) drop(column int) {
	t.header = slices.Delete(t.header, column, column+1)
	for i := range t.rows {
		t.rows[i] = slices.Delete(t.rows[i], column, column+1)
	}
}

// printer knows the colours and the width of the output.
type printer struct {
	*app
	colours bool
	columns int
	full    bool
	lead    string    // printed before the first line of an entry
	shown   string    // reference of the exchange of the printed transcript
	cutOff  bool      // its answer is incomplete
	to      io.Writer // destination of lines, if not the app's output
	failed  error     // the first write error
}

func (a *app) printer(full bool) *printer {
	return &printer{app: a, colours: a.colour(), columns: a.width(), full: full, lead: "  "}
}

// Styles, as SGR parameters.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

func (p *printer) style(s, sgr string) string {
	if !p.colours || s == "" {
		return s
	}
	return "\x1b[" + sgr + "m" + s + "\x1b[0m"
}

func (p *printer) outcome(r *view.Row) string {
	s := string(r.Outcome)
	if r.Status >= 400 {
		s = fmt.Sprintf("%s %d", s, r.Status)
	}
	if r.Partial {
		s = "partial"
	}
	if r.Lossy {
		s += " lossy"
	}
	switch {
	case r.Failed() || r.Lossy:
		return p.style(s, red)
	case r.Outcome == transcript.InProgress, r.Partial:
		return p.style(s, yellow)
	}
	return s
}
