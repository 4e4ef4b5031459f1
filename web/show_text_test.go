package web

import "testing"

func TestFormat(t *testing.T) {
	ms := func(v float64) *float64 { return &v }
	for got, want := range map[string]string{
		size(999): "999 B", size(4200): "4.2 kB", size(1_200_000): "1.2 MB", size(3_400_000_000): "3.4 GB",
		count(0): "0", count(999): "999", count(1000): "1,000", count(212480): "212,480", count(-1234567): "−1,234,567",
		compact(391): "391", compact(18200): "18.2 k", compact(2_500_000): "2.5 M",
		percent(1, 0): "0 %", percent(87, 100): "87 %",
		duration(nil): "", duration(ms(0.2)): "< 1 ms", duration(ms(12)): "12 ms", duration(ms(2310)): "2.31 s", duration(ms(57_100)): "57.1 s",
		duration(ms(108_000)): "1 m 48 s", duration(ms(7_380_000)): "2 h 03 m",
		shortID("call_0"): "call_0", shortID("toolu_01AbCdEfGhIjKlMn5"): "toolu_01A…lMn5", oneLine("a\n  b   c", 3): "a b…",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
