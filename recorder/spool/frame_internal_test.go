package spool

import (
	"bytes"
	"errors"
	"io"
	"math/rand"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/retake-debugger/retake/redact"
	"github.com/retake-debugger/retake/transcript"
)

var testRedactor = redact.New(nil)

// appendFrame appends a whole frame to b.
func appendFrame(b []byte, kind byte, epoch uint64, at time.Duration, payload []byte) []byte {
	start := len(b)
	b = append(b, make([]byte, HeaderBytes)...)
	b = append(b, payload...)
	return sealFrame(b, start, kind, epoch, at)
}

// twoExchanges makes the bytes of a file with two exchanges, the second one cut.
func twoExchanges(t testing.TB) []byte {
	t.Helper()
	b := &Begin{ID: "id", Label: "l", Upstream: "u", Method: "POST", URL: "http://h/p", Header: map[string][]string{"A": {"1", "2"}}}
	h := &Head{Status: 200, Header: map[string][]string{"B": {"3"}}}
	e := &Ending{Outcome: transcript.OK, Error: &transcript.Error{Type: "t"}, Trailer: map[string][]string{"C": {"4"}}}
	const epoch = 77
	var file []byte
	for i := range 2 {
		b.StartedAt = time.Unix(int64(i), 2)
		file = appendFrame(file, FrameBegin, epoch, 0, b.Append(nil, testRedactor))
		file = appendFrame(file, FrameRequest, epoch, 1, []byte("request"))
		file = appendFrame(file, FrameRequestEnd, epoch, 1, (&Ending{}).Append(nil, testRedactor))
		file = appendFrame(file, FrameHead, epoch, 2, h.Append(nil, testRedactor))
		file = appendFrame(file, FrameResponse, epoch, 3, []byte("one"))
		file = appendFrame(file, FrameResponse, epoch, 4, bytes.Repeat([]byte("2"), largePayload))
		if i == 0 {
			file = appendFrame(file, FrameEnd, epoch, 5, e.Append(nil, testRedactor))
		}
	}
	return file
}

// memory is a file in memory.
type memory struct{ *bytes.Reader }

func (memory) WriteAt(p []byte, off int64) (int, error) { return len(p), nil }
func (memory) Truncate(int64) error                     { return nil }
func (memory) Close() error                             { return nil }

// leftovers returns what is found in a file of a dead process.
func leftovers(t testing.TB, file []byte) []*Record {
	t.Helper()
	found, err := scanFile(memory{bytes.NewReader(file)}, int64(len(file)), &blockPool{})
	if err != nil && !errors.Is(err, ErrDamaged) {
		t.Fatal(err)
	}
	var all []*Record
	for _, e := range found {
		r, err := (&leftoverFolder{}).record(e)
		if err != nil {
			continue
		}
		all = append(all, r)
		for _, b := range []transcript.CapturedBody{r.Request, r.Response} {
			rc, err := b.Open()
			if err != nil {
				t.Fatal(err)
			}
			if n, err := io.Copy(io.Discard, rc); err != nil || n != b.Size() {
				t.Errorf("body of %d bytes yields %d: %v", b.Size(), n, err)
			}
			rc.Close()
		}
	}
	return all
}

func TestScanFile_FindsWholeAndCutExchanges(t *testing.T) {
	all := leftovers(t, twoExchanges(t))
	if len(all) != 2 {
		t.Fatal(len(all))
	}
	for i, want := range []transcript.Outcome{transcript.OK, transcript.RecorderCrashed} {
		r := all[i]
		if r.Outcome != want || r.ID != "id" || r.Status != 200 || r.Request.Size() != 7 || r.Response.Size() != 3+largePayload ||
			!reflect.DeepEqual(r.Chunks, []transcript.Chunk{{Offset: 0, At: 3}, {Offset: 3, At: 4}}) || !r.StartedAt.Equal(time.Unix(int64(i), 2)) {
			t.Errorf("%+v", r.Capture)
		}
	}
	if all[0].ResponseHeader["Trailer:C"][0] != "4" || all[0].Error.Type != "t" {
		t.Errorf("%+v", all[0].Capture)
	}
}

// Whatever is cut off or changed in a file, what is before it is found and
// nothing that is not there.
func TestScanFile_SurvivesDamage(t *testing.T) {
	file := twoExchanges(t)
	for n := 0; n < len(file); n += 1 + n%7 {
		for _, r := range leftovers(t, file[:n]) {
			if r.ID != "id" || r.Response.Size() > 3+largePayload {
				t.Errorf("cut at %d: %+v", n, r.Capture)
			}
		}
		if n%3 == 0 {
			damaged := bytes.Clone(file)
			damaged[n] ^= 0x40
			if got := len(leftovers(t, damaged)); got > 2 {
				t.Errorf("damaged at %d: %d records", n, got)
			}
		}
	}
}

// A stale tail of an earlier epoch, even one that a body has put there, is not read.
func TestScanFile_IgnoresOtherEpochs(t *testing.T) {
	old := twoExchanges(t)
	b := &Begin{ID: "new"}
	file := appendFrame(nil, FrameBegin, 78, 0, b.Append(nil, testRedactor))
	all := leftovers(t, append(file, old...))
	if len(all) != 1 || all[0].ID != "new" {
		t.Errorf("%d records", len(all))
	}
}

func FuzzScanFile(f *testing.F) {
	file := twoExchanges(f)
	f.Add(file)
	f.Add(file[:len(file)/2])
	huge := bytes.Clone(file)
	huge[24], huge[27] = 0xff, 0xff
	f.Add(huge)
	f.Add([]byte("Rtk1"))
	f.Fuzz(func(t *testing.T, file []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		leftovers(t, file)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > uint64(1<<20+100*len(file)) {
			t.Errorf("a file of %d bytes took %d bytes of memory", len(file), got)
		}
	})
}

// FuzzMeta puts payloads into valid frames, so that the fuzzer gets past the CRC.
func FuzzMeta(f *testing.F) {
	f.Add((&Begin{ID: "i", Header: map[string][]string{"A": {"b", "c"}}}).Append(nil, testRedactor))
	f.Add((&Head{Status: 9, Header: map[string][]string{"A": {}}}).Append(nil, testRedactor))
	f.Add((&Ending{Outcome: "ok"}).Append(nil, testRedactor))
	f.Fuzz(func(t *testing.T, payload []byte) {
		first := (&Begin{ID: "i"}).Append(nil, testRedactor)
		file := appendFrame(nil, FrameBegin, 1, 0, first)
		for _, kind := range []byte{FrameRequestEnd, FrameHead, FrameEnd, FrameBegin} {
			leftovers(t, appendFrame(bytes.Clone(file), kind, 1, 0, payload))
		}
		var b Begin
		if b.parse(payload) == nil {
			var again Begin
			if err := again.parse(b.Append(nil, testRedactor)); err != nil || again.ID != b.ID || len(again.Header) != len(b.Header) {
				t.Errorf("%+v became %+v: %v", b, again, err)
			}
		}
	})
}

// Random interleavings of exchanges, records and releases: what is read is
// always what was written, and space is used again.
func TestSpool_RandomInterleavings(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewSource(seed))
	s, err := Open(t.TempDir(), Options{FileBytes: 4 << 10})
	if err != nil {
		t.Fatal(err)
	}
	type open struct {
		c    *Recording
		id   string
		want [2]string
	}
	var flying []*open
	ended := map[string]*open{}
	var waiting []*Record
	next := 0
	for range 20000 {
		switch k := rnd.Intn(10); {
		case k < 2 && len(flying) < 20:
			next++
			o := &open{c: s.Begin(time.Now, testRedactor), id: string(rune('a'+next%26)) + strings.Repeat("x", next%50)}
			o.id += time.Duration(next).String()
			o.c.Write(o.c.AppendMeta(nil, FrameBegin, &Begin{ID: o.id}))
			flying = append(flying, o)
		case k < 7 && len(flying) > 0:
			o := flying[rnd.Intn(len(flying))]
			side := rnd.Intn(2)
			p := strings.Repeat(string(rune('A'+rnd.Intn(26))), rnd.Intn(3000))
			o.want[side] += p
			o.c.Write(appendFrame(nil, [2]byte{FrameRequest, FrameResponse}[side], o.c.epoch, 0, []byte(p)))
		case k < 8 && len(flying) > 0:
			i := rnd.Intn(len(flying))
			o := flying[i]
			flying = append(flying[:i], flying[i+1:]...)
			o.c.Write(o.c.AppendMeta(nil, FrameEnd, &Ending{Outcome: transcript.OK}))
			o.c.Close(&Ending{Outcome: transcript.OK})
			ended[o.id] = o
		case k < 9 && len(ended) > len(waiting):
			r, err := s.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			o := ended[r.ID]
			if o == nil {
				t.Fatalf("record %s was never written", r.ID)
			}
			for i, b := range []transcript.CapturedBody{r.Request, r.Response} {
				rc, _ := b.Open()
				got, err := io.ReadAll(rc)
				if err != nil || string(got) != o.want[i] {
					t.Fatalf("%s: %d bytes, want %d: %v", r.ID, len(got), len(o.want[i]), err)
				}
			}
			waiting = append(waiting, r)
		case len(waiting) > 0:
			i := rnd.Intn(len(waiting))
			delete(ended, waiting[i].ID)
			waiting[i].Release()
			waiting = append(waiting[:i], waiting[i+1:]...)
		}
	}
	st := s.Stats()
	if st.InFlight != len(flying) || st.Backlog != len(ended) || st.Lossy != 0 || st.Lost != 0 {
		t.Errorf("%+v: %d flying, %d ended", st, len(flying), len(ended))
	}
	if limit := int64(4<<20) + 4*st.BacklogBytes; st.Bytes > limit {
		t.Errorf("%d bytes on disk for a backlog of %d", st.Bytes, st.BacklogBytes)
	}
	t.Logf("%+v", st)
}
