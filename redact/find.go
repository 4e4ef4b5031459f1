package redact

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Secret is the place of a secret in a text: the bytes from Start to End.
type Secret struct {
	Start, End int
	Kind       string // "openai", "github", "email" …
}

// find returns the secrets of a text in order. They do not overlap.
func (s *Scrubber) find(text string) []Secret {
	var list []Secret
	for i := range s.rules {
		list = s.rules[i].find(text, list)
	}
	list = afterScheme(text, list)
	list = assigned(text, list)
	list = userInfo(text, list)
	if !s.keepEmails {
		list = emails(text, list)
	}
	if len(list) == 0 {
		return nil
	}
	slices.SortStableFunc(list, func(a, b Secret) int { return cmp.Compare(a.Start, b.Start) })
	return s.apart(text, list)
}

// apart drops secrets that overlap an earlier one, and those that a user's rules
// keep.
func (s *Scrubber) apart(text string, list []Secret) []Secret {
	out := list[:0]
	end := 0
	for _, f := range list {
		if f.Start < end || f.End <= f.Start || s.kept(text[f.Start:f.End]) {
			continue
		}
		out, end = append(out, f), f.End
	}
	return out
}

func (s *Scrubber) kept(secret string) bool {
	return strings.HasPrefix(secret, placeholderStart) || slices.ContainsFunc(s.keep, func(k *regexp.Regexp) bool { return k.MatchString(secret) })
}

func (r *rule) find(text string, list []Secret) []Secret {
	if r.own != nil {
		for _, m := range r.own.FindAllStringSubmatchIndex(text, -1) {
			if len(m) > 3 && m[2] >= 0 {
				m = m[2:]
			}
			list = append(list, Secret{m[0], m[1], r.kind})
		}
		return list
	}
	for from := 0; ; {
		i := strings.Index(text[from:], r.literal)
		if i < 0 {
			return list
		}
		start := from + i
		from = start + len(r.literal)
		if !r.inWord && inWord(text, start) {
			continue
		}
		m := r.rest.FindStringIndex(text[from:])
		if m == nil || !r.inWord && goesOn(text, from+m[1]) {
			continue
		}
		list = append(list, Secret{start, from + m[1], r.kind})
		from += m[1]
	}
}

// inWord reports whether a word, or a name with dashes, continues into a place.
func inWord(text string, at int) bool {
	if at == 0 {
		return false
	}
	c := text[at-1]
	if at > 1 && text[at-2] == '\\' && strings.IndexByte("nrt", c) >= 0 {
		return false // an escape, in JSON inside a text
	}
	return isWord(c) || c == '-' || c == '$'
}

// goesOn reports whether a word continues after a place: then it has another form.
func goesOn(text string, at int) bool { return at < len(text) && isWord(text[at]) }

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

var (
	scheme = regexp.MustCompile(`(?:[Bb]earer|BEARER)\s+([A-Za-z0-9._~+/=-]{16,})|[Aa]uthorization["']?\s*[:=]\s*["']?(?:Basic|Token|token|ApiKey)\s+([A-Za-z0-9._~+/=-]{8,})`)
	// password of user:password@host
	password = regexp.MustCompile(`^[A-Za-z0-9._%+-]*:([^\s/@"'<>$\\{}]{3,})@[A-Za-z0-9\[]`)
	email    = regexp.MustCompile(`[A-Za-z0-9](?:[A-Za-z0-9._%+-]{0,62}[A-Za-z0-9_+-])?@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,24}`)
)

// afterScheme finds the text after an authentication scheme.
func afterScheme(text string, list []Secret) []Secret {
	if !strings.Contains(text, "earer") && !strings.Contains(text, "EARER") && !strings.Contains(text, "uthorization") {
		return list
	}
	for _, m := range scheme.FindAllStringSubmatchIndex(text, -1) {
		kind, group := "bearer", m[2:4]
		if m[2] < 0 {
			kind, group = "authorization", m[4:6]
		}
		if looksRandom(text[group[0]:group[1]]) {
			list = append(list, Secret{group[0], group[1], kind})
		}
	}
	return list
}

// assigned finds the values of names that mean a credential: API_KEY=…, "password":
// "…".
func assigned(text string, list []Secret) []Secret {
	for at := 0; at < len(text); at++ {
		i := strings.IndexAny(text[at:], "=:")
		if i < 0 {
			return list
		}
		at += i
		name := nameBefore(text, at)
		compares := at+1 < len(text) && text[at+1] == '=' || at > 0 && text[at-1] == '!'
		if len(name) < 3 || compares || !speaksOfSecret(name) {
			continue
		}
		start := valueAfter(text, at)
		end := start
		for end < len(text) && end-start < 4096 && !strings.ContainsRune(" \t\r\n\"'`,;<>(){}[]\\&|", rune(text[end])) {
			end++
		}
		called := end < len(text) && (text[end] == '(' || text[end] == '[')
		if !called && isSecretValue(name, text[start:end]) {
			list = append(list, Secret{start, end, "secret"})
			at = end - 1
		}
	}
	return list
}

// nameBefore returns the name before an = or a colon.
func nameBefore(text string, at int) string {
	end := at
	for end > 0 && strings.IndexByte(" \t\"'\\:", text[end-1]) >= 0 && at-end < 6 {
		end--
	}
	start := end
	for start > 0 && end-start < 64 && (isWord(text[start-1]) || text[start-1] == '-' || text[start-1] == '.') {
		start--
	}
	return text[start:end]
}

// valueAfter returns where the value after an = or a colon begins.
func valueAfter(text string, at int) int {
	start := at + 1
	for start < len(text) && start-at < 8 && strings.IndexByte(" \t=>\"'\\`", text[start]) >= 0 {
		start++
	}
	return start
}

// doors are the words before "key" that make it a credential. Texts and code have
// many other keys: primary keys, cache keys …
var doors = []string{"api", "access", "secret", "private", "signing", "encryption", "master", "subscription", "account", "auth", "service", "storage", "shared", "license"}

// speaksOfSecret reports whether a name in a text is that of a credential.
func speaksOfSecret(name string) bool {
	n := snake(name)
	if !secretName(n) {
		return false
	}
	words := strings.FieldsFunc(n, func(c rune) bool { return c == '-' || c == '_' || c == '.' })
	last := len(words) - 1
	return last < 1 || words[last] != "key" || slices.Contains(doors, words[last-1])
}

// snake returns a camelCase name in snake_case.
func snake(name string) string {
	var out strings.Builder
	for i := range len(name) {
		c := name[i]
		if i > 0 && c >= 'A' && c <= 'Z' && name[i-1] >= 'a' && name[i-1] <= 'z' {
			out.WriteByte('_')
		}
		out.WriteByte(c)
	}
	return strings.ToLower(out.String())
}

// notSecret matches placeholders for a secret.
var notSecret = regexp.MustCompile(`(?i)^(?:your|my|the|some|an?)[-_].*|.*(?:example|placeholder|changeme|change_me|redacted|dummy|xxxx|\*\*\*|\.\.\.).*|(?:process|os|env|config|settings|self|this|secrets|vars|import)\..*|getenv.*|https?://.*|/.*|~.*|\$.*|%.*%?`)

// isSecretValue reports whether a value of such a name is a secret rather than a
// number, a variable or an example.
func isSecretValue(name, value string) bool {
	least := 12
	if n := strings.ToLower(name); strings.Contains(n, "pass") || strings.HasSuffix(n, "pwd") {
		least = 6
	}
	if len(value) < least || notSecret.MatchString(value) || strings.HasPrefix(value, "[") {
		return false
	}
	return looksRandom(value) || least == 6 && strings.ContainsAny(value, "!@#%^*?+0123456789")
}

// looksRandom reports whether a text is unlike a word, a number, a name or a path: it
// mixes letters and digits, or upper and lower case.
func looksRandom(s string) bool {
	var digits, upper, lower, changes int
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'A' && c <= 'Z':
			upper++
			if i > 0 && s[i-1] >= 'a' && s[i-1] <= 'z' {
				changes++
			}
		case c >= 'a' && c <= 'z':
			lower++
		}
	}
	return digits > 1 && upper+lower > 2 || changes > 2 && len(s) >= 20
}

// userInfo finds passwords in URLs.
func userInfo(text string, list []Secret) []Secret {
	for from := 0; ; {
		i := strings.Index(text[from:], "://")
		if i < 0 {
			return list
		}
		from += i + len("://")
		m := password.FindStringSubmatchIndex(text[from:])
		if m == nil || notSecret.MatchString(text[from+m[2]:from+m[3]]) {
			continue
		}
		list = append(list, Secret{from + m[2], from + m[3], "password"})
	}
}

// fileEndings are the endings of file names such as icon@2x.png.
var fileEndings = []string{"png", "jpg", "jpeg", "gif", "svg", "webp", "js", "ts", "tsx", "jsx", "mjs", "css", "scss", "json", "py", "go", "rs", "md", "txt", "html", "xml", "yml", "yaml", "lock", "git", "local", "service", "target", "timer", "socket", "mount"}

// emails finds addresses of people. The user of an address in an SSH command is not a
// person.
func emails(text string, list []Secret) []Secret {
	if strings.IndexByte(text, '@') < 0 {
		return list
	}
	for _, m := range email.FindAllStringIndex(text, -1) {
		address := text[m[0]:m[1]]
		local, domain, _ := strings.Cut(address, "@")
		ending := strings.ToLower(domain[strings.LastIndexByte(domain, '.')+1:])
		switch {
		case slices.Contains([]string{"git", "hg", "svn", "root", "user", "ubuntu", "ec2-user"}, local) && (m[1] < len(text) && text[m[1]] == ':' || strings.HasSuffix(text[:m[0]], "://") || strings.HasSuffix(text[:m[0]], "ssh ")):
		case slices.Contains(fileEndings, ending):
		case m[0] > 0 && (text[m[0]-1] == '/' || text[m[0]-1] == ':' && strings.Contains(text[:m[0]], "://")): // the end of user:password@host
		case m[1] < len(text) && wordAt(text, m[1]):
		default:
			list = append(list, Secret{m[0], m[1], "email"})
		}
	}
	return list
}

func wordAt(text string, at int) bool {
	r, _ := utf8.DecodeRuneInString(text[at:])
	return r == '_' || unicode.IsDigit(r) || r == '('
}
