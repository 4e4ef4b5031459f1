package dialect

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"errors"
	"io"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func packed(tb testing.TB, encoding string, plain []byte) []byte {
	tb.Helper()
	var out bytes.Buffer
	var w io.WriteCloser
	switch encoding {
	case "gzip":
		w = gzip.NewWriter(&out)
	case "zlib":
		w = zlib.NewWriter(&out)
	case "deflate":
		w, _ = flate.NewWriter(&out, 5)
	case "br":
		w = brotli.NewWriter(&out)
	case "zstd":
		w, _ = zstd.NewWriter(&out)
	}
	if _, err := w.Write(plain); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

func TestText_UndoesEveryEncoding(t *testing.T) {
	plain := bytes.Repeat([]byte(`{"größe":1} `), 2000)
	for _, c := range []struct {
		header string
		body   []byte
	}{
		{"", plain}, {"identity", plain},
		{"gzip", packed(t, "gzip", plain)}, {" GZIP ", packed(t, "gzip", plain)}, {"x-gzip", packed(t, "gzip", plain)},
		{"deflate", packed(t, "zlib", plain)}, {"deflate", packed(t, "deflate", plain)},
		{"br", packed(t, "br", plain)}, {"zstd", packed(t, "zstd", plain)},
		{"gzip, br", packed(t, "br", packed(t, "gzip", plain))}, {"zstd,identity, gzip", packed(t, "gzip", packed(t, "zstd", plain))},
	} {
		got, err := Text(c.header, c.body, 1<<20)
		if err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%q: %d bytes, %v", c.header, len(got), err)
		}
		if got, err := Text(c.header, c.body, 100); !errors.Is(err, ErrTooLarge) || !bytes.Equal(got, plain[:100]) {
			if c.header != "gzip, br" && c.header != "zstd,identity, gzip" { // the inner body may be what is too large
				t.Errorf("%q with a limit: %d bytes, %v", c.header, len(got), err)
			}
		}
	}
	if _, err := Text("rot13", plain, 0); err == nil {
		t.Error("an unknown encoding is undone")
	}
	if _, err := Text("gzip,gzip,gzip,gzip,gzip,gzip", plain, 0); err == nil {
		t.Error("no end of encodings")
	}
	if got, err := Text("gzip", nil, 0); err != nil || len(got) != 0 {
		t.Errorf("an empty body gives %q, %v", got, err)
	}
}

func TestText_GivesWhatACutBodyHolds(t *testing.T) {
	plain := bytes.Repeat([]byte("0123456789abcdef, and some more text to pack; "), 4000)
	for _, encoding := range []string{"gzip", "br", "zstd", "deflate"} {
		body := packed(t, encoding, plain)
		for _, n := range []int{1, len(body) / 2, len(body) - 1} {
			got, err := Text(encoding, body[:n], 0)
			if err == nil || !bytes.HasPrefix(plain, got) {
				t.Errorf("%s cut at %d of %d: %d bytes, %v", encoding, n, len(body), len(got), err)
			}
		}
	}
}

func TestText_ABombIsAnErrorAndNoMemory(t *testing.T) {
	bomb := packed(t, "gzip", make([]byte, 64<<20))
	got, err := Text("gzip", bomb, 1<<16)
	if !errors.Is(err, ErrTooLarge) || len(got) != 1<<16 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func FuzzText(f *testing.F) {
	for _, e := range []string{"gzip", "br", "zstd", "deflate"} {
		f.Add(e, packed(f, e, []byte(`{"a":1}`)))
	}
	f.Fuzz(func(t *testing.T, encoding string, body []byte) {
		if got, _ := Text(encoding, body, 1<<16); len(got) > 1<<16 {
			t.Fatalf("%d bytes", len(got))
		}
	})
}
