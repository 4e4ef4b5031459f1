package formats_test

import (
	"bytes"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// zipped compresses a text as archives are.
func zipped(t testing.TB, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := zstd.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
