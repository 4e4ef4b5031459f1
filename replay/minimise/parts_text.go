package minimise

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// longText is a text of an item that is worth to be cut into lines.
type longText struct {
	piece int
	at    string
	lines []string // with their ends; put together they are the text
}

const (
	// leastText is how many bytes a text must have to be cut.
	leastText = 160
	// longLine is the length of a line that is cut itself, behind blanks and commas: what
	// tools return as JSON is often one line.
	longLine = 400
	// leastPiece is how long the pieces of a long line are at least.
	leastPiece = 120
)

// readTexts finds the long texts of results and messages. What the provider gave is
// signed or encrypted at times, and stays whole.
func (p *parts) readTexts() {
	for i := range p.pieces {
		switch it := p.pieces[i].item; {
		case it.Kind == transcript.ToolResult && !it.ServerSide, it.Kind == transcript.MessageItem, it.Kind == transcript.System:
			for _, at := range textsIn(it.Raw) {
				p.addText(i, at)
			}
		}
	}
}

// isText reports whether a JSON value is a string.
func isText(v []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(v), []byte{'"'}) }

// textsIn returns the pointers of the texts of an item, in its source.
func textsIn(raw json.RawMessage) (list []string) {
	if isText(raw) {
		return []string{""}
	}
	for _, member := range [...]string{"content", "output", "text"} {
		v, err := rawjson.Value(raw, "/"+member)
		if err != nil {
			continue
		}
		if isText(v) {
			list = append(list, "/"+member)
			continue
		}
		var parts []struct{ Text *string }
		if json.Unmarshal(v, &parts) != nil {
			continue
		}
		for i := range parts {
			if parts[i].Text != nil {
				list = append(list, chainAt("/"+member, i)+"/text")
			}
		}
	}
	return list
}

func (p *parts) addText(i int, at string) {
	v, err := rawjson.Value(p.pieces[i].item.Raw, at)
	var text string
	if err != nil || json.Unmarshal(v, &text) != nil || len(text) < leastText {
		return
	}
	if lines := linesOf(text); len(lines) > 1 {
		p.texts = append(p.texts, longText{i, p.pieces[i].item.At + at, lines})
	}
}

// linesOf cuts a text into lines, and long lines into pieces.
func linesOf(text string) (lines []string) {
	for line := range strings.Lines(text) {
		for long := len(line) > longLine; long && len(line) > 2*leastPiece; {
			cut := strings.IndexAny(line[leastPiece:], " ,;\t")
			if cut < 0 || leastPiece+cut+1 >= len(line) {
				break
			}
			lines, line = append(lines, line[:leastPiece+cut+1]), line[leastPiece+cut+1:]
		}
		lines = append(lines, line)
	}
	return lines
}

// text puts the kept lines together.
func (t *longText) text(kept []bool) string {
	var b strings.Builder
	for i, line := range t.lines {
		if kept[i] {
			b.WriteString(line)
		}
	}
	return b.String()
}
