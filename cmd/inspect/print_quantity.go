package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// moment parses a time: an age (30d, 12h, 2w), a day or an RFC 3339 time.
func moment(s string, now time.Time) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, s, now.Location()); err == nil {
		return t, nil
	}
	if d, ok := ago(s); ok {
		return now.Add(-d), nil
	}
	return time.Time{}, fmt.Errorf("%q is not an age: want something like 30d, 12h or 2w, or a day like 2026-03-31", s)
}

func ago(s string) (time.Duration, bool) {
	units := map[string]time.Duration{"m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}
	digits := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyz")
	unit, ok := units[s[len(digits):]]
	n, err := strconv.ParseFloat(digits, 64)
	if !ok || err != nil || !(n >= 0) || n*float64(unit) > math.MaxInt64 || digits == "" {
		return 0, false
	}
	return time.Duration(n * float64(unit)), true
}

// byteUnits are the units of bytes. The default is bytes.
var byteUnits = map[string]float64{"": 1, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40,
	"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}

// bytesOf parses a number of bytes: 2GB, 500 MB, 1.5GiB.
func bytesOf(s string) (int64, error) {
	digits := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
	unit, ok := byteUnits[strings.ToUpper(strings.TrimSpace(s[len(digits):]))]
	n, err := strconv.ParseFloat(digits, 64)
	if !ok || err != nil || !(n*unit >= 1) || n*unit > math.MaxInt64/2 {
		return 0, fmt.Errorf("%q is not a size: want something like 2GB or 500MB", s)
	}
	return int64(n * unit), nil
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
