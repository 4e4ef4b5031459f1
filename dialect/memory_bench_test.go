//go:build unix

package dialect

import (
	"bytes"
	"fmt"
	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/rawjson"
	"syscall"
	"testing"
	"time"
)

// BenchmarkMemory_Read reads a request of 200 KB whose last 2 KB are new each
// time, in turns with what one strict look at each byte costs (scan) and with
// what reading it all costs (decode). CPU time, with the garbage collector's.
func BenchmarkMemory_Read(b *testing.B) {
	for _, a := range growing() {
		b.Run(string(a.dialect), func(b *testing.B) {
			mark := bytes.LastIndex(a.body, []byte("#00000000"))
			var memory api.Memory
			w := &api.Wire{Request: a.body}
			ways := []struct {
				name string
				do   func()
			}{
				{"read", func() { Read(&memory, a.dialect, w) }},
				{"scan", func() { rawjson.Valid(w.Request) }},
				{"decode", func() { Decode(a.dialect, w); Split(a.dialect, w.Request) }},
			}
			spent := make([]time.Duration, len(ways))
			Read(&memory, a.dialect, w)
			n := 0
			for b.Loop() {
				n++
				copy(a.body[mark+1:], fmt.Sprintf("%08d", n))
				for i := range ways {
					before := processTime(b)
					ways[i].do()
					spent[i] += processTime(b) - before
				}
			}
			for i := range ways {
				b.ReportMetric(float64(spent[i].Nanoseconds())/1000/float64(n), ways[i].name+"-µs")
			}
		})
	}
}

func processTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
