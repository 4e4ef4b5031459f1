package web

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// size formats a number of bytes.
func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	case n < 1_000_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

// count formats an integer with thousands separators.
func count(n int64) string {
	if n < 0 {
		return "−" + count(-n)
	}
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// compact formats a number in few characters.
func compact(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10)
	case n < 1_000_000:
		return fmt.Sprintf("%.1f k", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f M", float64(n)/1e6)
}

// percent returns a as a percentage of b.
func percent(a, b int64) string {
	if b <= 0 {
		return "0 %"
	}
	return fmt.Sprintf("%d %%", a*100/b)
}

// duration formats milliseconds; nil is unknown.
func duration(ms *float64) string {
	if ms == nil {
		return ""
	}
	switch v := *ms; {
	case v < 1:
		return "< 1 ms"
	case v < 1000:
		return fmt.Sprintf("%.0f ms", v)
	case v >= 10_000 && v < 60_000:
		return fmt.Sprintf("%.1f s", v/1000)
	case v < 60_000:
		return fmt.Sprintf("%.2f s", v/1000)
	case v < 3_600_000:
		return fmt.Sprintf("%d m %02d s", int(v)/60_000, int(v)/1000%60)
	default:
		return fmt.Sprintf("%d h %02d m", int(v)/3_600_000, int(v)/60_000%60)
	}
}

// shortID keeps the beginning and the end of a call id, because the ends differ.
func shortID(id string) string {
	if r := []rune(id); len(r) > 16 {
		return string(r[:9]) + "…" + string(r[len(r)-4:])
	}
	return id
}

// clock formats a time, without the date if it is today.
func (s *server) clock(t time.Time) string {
	now := s.now()
	t = t.In(now.Location())
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format("15:04:05")
	}
	if t.Year() == now.Year() {
		return t.Format("2 Jan 15:04")
	}
	return t.Format("2 Jan 2006")
}

// clockOf returns the format of the start times of stretches of that length.
func (s *server) clockOf(length time.Duration) func(time.Time) string {
	layout := "2 Jan 15:04"
	if length >= 24*time.Hour {
		return func(t time.Time) string { return t.UTC().Format("2 Jan 2006") }
	}
	return func(t time.Time) string { return t.In(s.now().Location()).Format(layout) }
}

func (s *server) fullTime(t time.Time) string {
	return t.In(s.now().Location()).Format("2006-01-02 15:04:05.000 -07:00")
}

// statusWord names an HTTP status.
func statusWord(status int) string {
	return strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status))
}

// dollars formats an amount with its significant digits; "?" if it is unknown.
func dollars(usd *string, atLeast bool) string {
	if usd == nil {
		return "?"
	}
	text := *usd
	if whole, digits, ok := strings.Cut(text, "."); ok && len(digits) > 2 {
		keep := 2
		for keep < len(digits) && strings.Trim(whole, "-0") == "" && strings.Trim(digits[:keep-1], "0") == "" {
			keep++
		}
		text = whole + "." + digits[:keep]
	}
	if atLeast {
		return "≥ $" + text
	}
	return "$" + text
}

// share formats a fraction as a percentage; nil is unknown.
func share(part *float64) string {
	if part == nil {
		return ""
	}
	return fmt.Sprintf("%.0f %%", *part*100)
}
