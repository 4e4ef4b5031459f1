package files_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/files"
	"github.com/retake-debugger/retake/redact"
	"github.com/retake-debugger/retake/store"
)

const chat = `{"messages":[{"role":"user","content":"How are you?"},{"role":"assistant","content":"Well."}]}` + "\n"

func newImport(t *testing.T) (*files.Import, *[]int64) {
	t.Helper()
	db, err := store.Open(filepath.Join(t.TempDir(), "t.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	bad := &[]int64{}
	return &files.Import{Store: db, Format: files.Auto, Redact: redact.New([]byte("salt")), Bad: func(_ string, number int64, _ error) { *bad = append(*bad, number) }}, bad
}

func TestImport_TwiceAddsNothingAndTellsBadLines(t *testing.T) {
	im, bad := newImport(t)
	for n, want := range []int{1, 0} {
		did, err := im.Read(t.Context(), files.File{Name: "a.jsonl", Base: "a", Reader: strings.NewReader(chat + "{\n")})
		if err != nil || did.Exchanges != 1 || did.New != want || did.Runs != 1 || len(did.RunIDs()) != 1 || did.Bad != 1 || did.Format != "openai-chat" {
			t.Errorf("time %d: %+v, %v", n+1, did, err)
		}
	}
	if len(*bad) != 2 || (*bad)[0] != 2 {
		t.Errorf("bad lines %v", *bad)
	}
	did, err := im.Read(t.Context(), files.File{Name: "b.txt", Base: "b", Reader: strings.NewReader("no transcript")})
	if err != nil || did.Known() || did.Error == "" {
		t.Errorf("what is none: %+v, %v", did, err)
	}
}

func TestImport_BoundsItsScratchFiles(t *testing.T) {
	im, _ := newImport(t)
	im.MostScratch = 10
	_, err := im.Read(t.Context(), files.File{Name: "a.jsonl", Base: "a", Reader: strings.NewReader(chat)})
	if !errors.Is(err, files.ErrTooLarge) {
		t.Errorf("error %v, want ErrTooLarge", err)
	}
}

func TestParseSteps(t *testing.T) {
	for text, want := range map[string]int{"": 0, "1": 1, "1-3,5": 4, " 2 ": 1} {
		if got, err := files.ParseSteps(text); err != nil || len(got) != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"0", "3-1", "x", "1-", "1-999999999", strings.Repeat("1-90000,", 3) + "1"} {
		if got, err := files.ParseSteps(text); err == nil {
			t.Errorf("%q gives %d steps", text, len(got))
		}
	}
}
