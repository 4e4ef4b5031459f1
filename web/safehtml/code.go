package safehtml

import (
	"regexp"
	"strings"
)

// mostTokens bounds how many tokens of a text are coloured; the rest is shown as
// plain text. This also bounds the size of the HTML.
const mostTokens = 6000

// A token is a stretch of code of one class, "" if it is of none.
type token struct {
	class constant
	end   int
}

// listing shows code. Line numbers that tools put before the lines are not part of
// it.
func (m *markup) listing(l *language, s string) {
	gutters, text := numbered(s)
	tokens := l.tokens(text)
	line, at := 0, 0
	if gutters != nil {
		m.gutter(gutters[0])
	}
	for _, t := range tokens {
		for at < t.end {
			end := t.end
			if gutters != nil {
				if n := strings.IndexByte(text[at:t.end], '\n'); n >= 0 {
					end = at + n + 1
				}
			}
			m.token(t.class, text[at:end])
			if at = end; gutters != nil && text[at-1] == '\n' {
				if line++; line < len(gutters) {
					m.gutter(gutters[line])
				}
			}
		}
	}
}

func (m *markup) token(class constant, s string) {
	if class == "" {
		m.text(s)
		return
	}
	m.span(class, s)
}

func (m *markup) gutter(number string) {
	if number != "" {
		m.span("cg", number)
	}
}

// lineNumber is the number of a line, as tools write it before the line.
var lineNumber = regexp.MustCompile(`^ *\d+(\t|→| ?\| ?|: )`)

// numbered splits off the line numbers of a text if each of the first lines has
// one. The last line may be cut off.
func numbered(s string) (gutters []string, text string) {
	var b strings.Builder
	for line := range strings.Lines(s) {
		g := lineNumber.FindString(line)
		if g == "" && len(gutters) < 3 && strings.TrimSpace(line) != "" {
			return nil, s
		}
		gutters = append(gutters, g)
		b.WriteString(line[len(g):])
	}
	if len(gutters) < 2 {
		return nil, s
	}
	return gutters, b.String()
}

// tokens splits code. Strings and comments over several lines end at their
// delimiter. One without an end is not taken for a string or comment, since a text
// may be a part of a file.
func (l *language) tokens(s string) []token {
	x := lexer{l: l, s: s, keywords: map[string]bool{}, lone: map[byte]int{}}
	for _, word := range strings.Fields(l.keywords) {
		x.keywords[word] = true
	}
	x.line, x.long = strings.Fields(l.line), strings.Fields(l.long)
	x.opens, x.closes, _ = strings.Cut(l.block, " ")
	for _, q := range x.long {
		x.oneLine = x.oneLine || strings.Count(s, q)%2 > 0
	}
	x.begun()
	for x.at < len(s) && len(x.list) < mostTokens {
		x.next()
	}
	if x.at < len(s) {
		x.put("", len(s))
	}
	return x.list
}

// lexer goes through code once.
type lexer struct {
	l             *language
	s             string
	at            int
	list          []token
	keywords      map[string]bool
	line, long    []string
	opens, closes string
	oneLine       bool // quotes of long texts are unpaired: the text is a part of another
	unclosed      bool // no comment ends any more
	inTag         bool
	lone          map[byte]int // up to where a quote has no other
}

func (x *lexer) put(class constant, end int) {
	if n := len(x.list); n > 0 && x.list[n-1].class == class {
		x.list[n-1].end = end
	} else {
		x.list = append(x.list, token{class, end})
	}
	x.at = end
}

// begun checks whether the text begins within a comment.
func (x *lexer) begun() {
	if x.opens == "" || x.l.tags {
		return
	}
	if end := strings.Index(x.s, x.closes); end >= 0 && !strings.Contains(x.s[:end], x.opens) && strings.Count(x.s[:end], "\n") < 200 && x.looksLikeComment(x.s[:end]) {
		x.put("cc", end+len(x.closes))
	}
}

// looksLikeComment reports whether a text before the end of a comment is the rest
// of it: each line begins like a comment line.
func (x *lexer) looksLikeComment(s string) bool {
	lines := strings.Split(s, "\n")
	for _, line := range lines[min(1, len(lines)-1):] {
		if t := strings.TrimSpace(line); t != "" && !strings.HasPrefix(t, "*") {
			return false
		}
	}
	return true
}

func (x *lexer) next() {
	rest := x.s[x.at:]
	switch c := rest[0]; {
	case c == '\\' && len(rest) > 1 && rest[1] < 0x80:
		x.put("", x.at+2)
	case x.comment(rest), x.text(rest):
	case x.l.tags && (c == '<' || c == '>'):
		x.tag(rest)
	case isWord(c):
		x.word(rest)
	case (c == '#' || c == '@' || c == '!' || c == '.') && len(rest) > 1 && isWord(rest[1]):
		x.sigil(rest)
	default:
		x.put("", x.at+1)
	}
}

// comment takes a comment.
func (x *lexer) comment(rest string) bool {
	if x.opens != "" && !x.unclosed && strings.HasPrefix(rest, x.opens) {
		if end := strings.Index(rest[len(x.opens):], x.closes); end >= 0 {
			x.put("cc", x.at+len(x.opens)+end+len(x.closes))
			return true
		}
		x.unclosed = true
	}
	for _, begin := range x.line {
		if strings.HasPrefix(rest, begin) && x.mayBegin() && !(begin == "#" && x.keywords[wordAt(rest)]) {
			x.put("cc", x.at+lineEnd(rest))
			return true
		}
	}
	return false
}

// mayBegin reports whether a comment may begin here. In some languages it cannot
// begin within a word, and in none within a URL.
func (x *lexer) mayBegin() bool {
	if x.at == 0 {
		return true
	}
	before := x.s[x.at-1]
	if x.l.words {
		return before == ' ' || before == '\t' || before == '\n' || before == ';' || before == '('
	}
	return before != ':'
}

// text takes a text between quotes.
func (x *lexer) text(rest string) bool {
	for _, q := range x.long {
		if !strings.HasPrefix(rest, q) {
			continue
		}
		end := strings.Index(rest[len(q):], q)
		if x.oneLine && end >= 0 && strings.Contains(rest[:len(q)+end], "\n") {
			end = -1
		}
		if end < 0 {
			x.put("", x.at+len(q))
		} else {
			x.put("cs", x.at+2*len(q)+end)
		}
		return true
	}
	q := rest[0]
	if strings.IndexByte(x.l.quotes, q) < 0 || x.l.tags && !x.inTag || x.at < x.lone[q] || q == '\'' && x.isApostrophe() {
		return false
	}
	for i := 1; i < len(rest) && rest[i] != '\n'; i++ {
		switch rest[i] {
		case q:
			x.put("cs", x.at+i+1)
			return true
		case '\\':
			i++
		}
	}
	x.lone[q] = x.at + lineEnd(rest)
	return false
}

// isApostrophe reports whether a quote comes after a word that is not a string
// prefix.
func (x *lexer) isApostrophe() bool {
	n := x.at
	for n > 0 && x.at-n <= 2 && isWord(x.s[n-1]) {
		n--
	}
	return n < x.at && (x.at-n > 2 || strings.Trim(x.s[n:x.at], "rRbBfFuUL") != "")
}

// word takes a number, a keyword or a name.
func (x *lexer) word(rest string) {
	n := wordLen(rest)
	word := rest[:n]
	if c := word[0]; c >= '0' && c <= '9' {
		for n+1 < len(rest) && rest[n] == '.' && rest[n+1] >= '0' && rest[n+1] <= '9' {
			n += 1 + wordLen(rest[n+1:])
		}
		x.put("cn", x.at+n)
		return
	}
	if x.l.caseless {
		word = strings.ToLower(word)
	}
	if x.keywords[word] && (x.at == 0 || x.s[x.at-1] != '.') {
		x.put("ck", x.at+n)
		return
	}
	x.put("", x.at+n)
}

// sigil takes a keyword that begins with a sign.
func (x *lexer) sigil(rest string) {
	if word := wordAt(rest); x.keywords[word] {
		x.put("ck", x.at+len(word))
		return
	}
	x.put("", x.at+1)
}

// tag takes the beginning or the end of an element.
func (x *lexer) tag(rest string) {
	if rest[0] == '>' {
		x.inTag = false
		x.put("", x.at+1)
		return
	}
	n := 1
	if n < len(rest) && (rest[n] == '/' || rest[n] == '!' || rest[n] == '?') {
		n++
	}
	name := 0
	for n+name < len(rest) && (isWord(rest[n+name]) || rest[n+name] == '-' || rest[n+name] == ':') {
		name++
	}
	if x.put("", x.at+n); name > 0 {
		x.inTag = true
		x.put("ck", x.at+name)
	}
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func wordLen(s string) int {
	n := 0
	for n < len(s) && isWord(s[n]) {
		n++
	}
	return n
}

// wordAt returns the sign at the start of a text and the word after it.
func wordAt(s string) string {
	n := 1 + wordLen(s[1:])
	for n < len(s) && s[n] == '-' {
		n += 1 + wordLen(s[n+1:])
	}
	return s[:n]
}

func lineEnd(s string) int {
	if n := strings.IndexByte(s, '\n'); n >= 0 {
		return n
	}
	return len(s)
}
