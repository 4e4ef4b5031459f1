package main

import (
	"testing"
	"time"
)

func TestMoment(t *testing.T) {
	now := time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)
	for s, want := range map[string]string{
		"30d": "2026-03-01T12:00:00Z", "12h": "2026-03-31T00:00:00Z", "2w": "2026-03-17T12:00:00Z", "1.5h": "2026-03-31T10:30:00Z", "0d": "2026-03-31T12:00:00Z",
		"2026-03-01": "2026-03-01T00:00:00Z", "2026-03-01T05:06:07+01:00": "2026-03-01T04:06:07Z",
		"": "", "d": "", "30": "", "30y": "", "-3d": "", "1e30d": "", "NaNd": "", "soon": "",
	} {
		got, err := moment(s, now)
		if (err != nil) != (want == "") || err == nil && got.UTC().Format(time.RFC3339) != want {
			t.Errorf("%q is %v, %v; want %s", s, got, err, want)
		}
	}
}

func TestBytesOf(t *testing.T) {
	for s, want := range map[string]int64{
		"2GB": 2e9, "500 MB": 5e8, "1.5GiB": 3 << 29, "1000": 1000, "10k": 10_000, "3tb": 3e12,
		"": 0, "GB": 0, "0": 0, "-1MB": 0, "2XB": 0, "1e30GB": 0, "infB": 0,
	} {
		if got, err := bytesOf(s); got != want || (err != nil) != (want == 0) {
			t.Errorf("%q is %d, %v; want %d", s, got, err, want)
		}
	}
}
