package history_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/transcript"
)

// bodies is a store of one body, 1.
type bodies struct {
	transcript.BodyReader
	wire []byte
}

func (b bodies) Body(_ context.Context, id transcript.BodyID) (io.ReadCloser, error) {
	if id != 1 {
		return nil, transcript.ErrNotFound
	}
	return io.NopCloser(bytes.NewReader(b.wire)), nil
}

// What is missing has one rule: Body says why, Available accepts it unless the database
// has lost it.
func TestBody_SaysWhatIsMissing(t *testing.T) {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write([]byte("text")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	broken := zipped.Bytes()[:zipped.Len()-6]
	for name, tt := range map[string]struct {
		message transcript.Message
		wire    []byte
		want    string
		err     error
		lost    bool
	}{
		"whole":         {message: transcript.Message{Body: 1, Bytes: 4}, wire: []byte("text"), want: "text"},
		"empty":         {},
		"encoded":       {message: transcript.Message{Body: 1, Bytes: int64(zipped.Len()), ContentEncoding: "gzip"}, wire: zipped.Bytes(), want: "text"},
		"identity":      {message: transcript.Message{Body: 1, Bytes: 4, ContentEncoding: "identity"}, wire: []byte("text"), want: "text"},
		"breaks off":    {message: transcript.Message{Body: 1, Bytes: int64(len(broken)), ContentEncoding: "gzip"}, wire: broken, want: "text", err: history.ErrEncoding},
		"unknown code":  {message: transcript.Message{Body: 1, Bytes: 4, ContentEncoding: "rot13"}, wire: []byte("text"), err: history.ErrEncoding},
		"bodies left":   {message: transcript.Message{Bytes: 4, Omitted: "bodies"}, err: history.ErrOmitted},
		"images left":   {message: transcript.Message{Body: 1, Bytes: 4, Omitted: "images"}, wire: []byte("text"), want: "text", err: history.ErrOmitted},
		"secrets left":  {message: transcript.Message{Body: 1, Bytes: 2, Omitted: "secrets"}, wire: []byte("text"), want: "text", err: history.ErrOmitted},
		"too large":     {message: transcript.Message{Body: 1, Bytes: history.MaxBody + 1}, err: history.ErrTooLarge},
		"lost":          {message: transcript.Message{Body: 2, Bytes: 4}, err: transcript.ErrDamaged, lost: true},
		"omitted, lost": {message: transcript.Message{Body: 2, Bytes: 4, Omitted: "images"}, err: transcript.ErrDamaged, lost: true},
	} {
		got, err := history.Body(t.Context(), bodies{wire: tt.wire}, &tt.message)
		if string(got) != tt.want || !errors.Is(err, tt.err) || (err == nil) != (tt.err == nil) {
			t.Errorf("%s: %q, %v; want %q, %v", name, got, err, tt.want, tt.err)
		}
		if _, err := history.Available(got, err); (err != nil) != tt.lost {
			t.Errorf("%s: available with %v", name, err)
		}
	}
}
