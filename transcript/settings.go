package transcript

import (
	"hash/fnv"
	"math/bits"
	"strings"
)

// Settings is a digest of what a request says besides its history, enough to tell
// whether two requests are the same agent's. The zero Settings has neither system
// prompt nor tools.
type Settings struct {
	System uint64 // hash of the system texts, without what changes from call to call
	Tools  uint64 // hash of the names of the tools, in any order
	// Sketch is alike for system texts that are alike: each byte stands for one of
	// their lines.
	Sketch [16]byte
}

// SettingsOf reads the settings of a request's items.
func SettingsOf(input []Item) Settings {
	var s Settings
	least := [16]uint64{}
	for i := range least {
		least[i] = ^uint64(0)
	}
	lines := 0
	for i := range input {
		switch it := &input[i]; it.Kind {
		case ToolDefinition:
			s.Tools += mix(HashText(it.Name))
		case System:
			for line := range strings.SplitSeq(it.Text, "\n") {
				h, ok := normalisedLine(line)
				if !ok {
					continue
				}
				lines++
				s.System = mix(s.System ^ h)
				for k := range least {
					least[k] = min(least[k], mix(h+uint64(k)*0x9e3779b97f4a7c15))
				}
			}
		}
	}
	if lines > 0 {
		for k := range least {
			s.Sketch[k] = byte(least[k] >> 56)
			if s.Sketch[k] == 0 {
				s.Sketch[k] = 1
			}
		}
	}
	return s
}

// Alike reports whether two system prompts are versions of one: about half of their
// lines or more are the same.
func (s Settings) Alike(o Settings) bool {
	if s.System == o.System {
		return true
	}
	same := 0
	for k := range s.Sketch {
		if s.Sketch[k] == o.Sketch[k] && s.Sketch[k] != 0 {
			same++
		}
	}
	return same*3 >= len(s.Sketch)
}

// volatilePrefixes begin lines that clients write anew for each call.
var volatilePrefixes = []string{
	"x-anthropic-billing-header:", // Claude Code: a nonce
}

// normalisedLine hashes a line of a system prompt without numbers, hashes, days and
// months, which change from call to call. It is not ok for a line without content.
func normalisedLine(line string) (uint64, bool) {
	line = strings.TrimSpace(line)
	for _, v := range volatilePrefixes {
		if strings.HasPrefix(line, v) {
			return 0, false
		}
	}
	if line == "" {
		return 0, false
	}
	h := uint64(14695981039346656037)
	add := func(s string) {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * 1099511628211
		}
	}
	for len(line) > 0 {
		n := wordLength(line)
		if n == 0 {
			add(line[:1])
			line = line[1:]
			continue
		}
		if word := line[:n]; !volatileWord(word) {
			add(word)
		}
		line = line[n:]
	}
	return mix(h), true
}

func wordLength(s string) int {
	n := 0
	for n < len(s) && (s[n] >= '0' && s[n] <= '9' || s[n] >= 'a' && s[n] <= 'z' || s[n] >= 'A' && s[n] <= 'Z') {
		n++
	}
	return n
}

// volatileWord reports whether a word contains a digit or names a day or a month.
func volatileWord(w string) bool {
	if strings.IndexFunc(w, func(r rune) bool { return r >= '0' && r <= '9' }) >= 0 {
		return true
	}
	switch w {
	case "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun",
		"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
		"Jan", "Feb", "Mar", "Apr", "Jun", "Jul", "Aug", "Sep", "Sept", "Oct", "Nov", "Dec", "AM", "PM", "UTC", "GMT", "CET", "CEST", "EST", "PST":
		return true
	}
	return false
}

// HashText returns a hash of a text, the same in every process.
func HashText(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}

// mix spreads the bits of a hash.
func mix(h uint64) uint64 {
	h ^= h >> 31
	h *= 0x7fb5d329728ea185
	h ^= bits.RotateLeft64(h, 27)
	h *= 0x81dadef4bc2dd44d
	return h ^ h>>33
}
