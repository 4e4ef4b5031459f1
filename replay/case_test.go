package replay_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
)

func readCase(t *testing.T, name string, into any) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "D-REP-02", name))
	if err != nil {
		t.Fatal(err)
	}
	if into != nil {
		if err := json.Unmarshal(raw, into); err != nil {
			t.Fatal(err)
		}
	}
	return raw
}

func sha(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// D-REP-02: editing one tool result changes that value alone; what was recorded stays.
func TestCase_AnEditedResultLeavesSignedThinkingAsItWas(t *testing.T) {
	var want struct {
		Ideal    string `json:"sent_body_sha256_ideal"`
		Original string `json:"stored_original_unchanged_sha256"`
	}
	var edit struct{ Pointer, Value string }
	readCase(t, "expect.json", &want)
	readCase(t, "edit.json", &edit)
	request := readCase(t, "request.json", nil)
	if want.Ideal == "" || want.Original == "" {
		t.Fatal("no case found")
	}
	db, e := record(t, &transcript.Capture{Request: body(request)})
	value, _ := json.Marshal(edit.Value)
	item := path.Dir(edit.Pointer)
	id, err := rawjson.Value(request, item+"/tool_use_id")
	if err != nil {
		t.Fatal(err)
	}
	var callID string
	if err := json.Unmarshal(id, &callID); err != nil {
		t.Fatal(err)
	}
	for _, e2 := range []transcript.Edit{
		{Op: transcript.SetResult, CallID: callID, Text: edit.Value},
		{Op: transcript.SetValue, At: edit.Pointer, Value: value},
	} {
		r, err := replay.NewRequest(context.Background(), db, e, []transcript.Edit{e2})
		if err != nil {
			t.Fatal(err)
		}
		if got := sha(r.Body); got != want.Ideal {
			t.Errorf("%s sends %s, want %s:\n%s", e2.Op, got, want.Ideal, r.Body)
		}
	}
	same, err := replay.NewRequest(context.Background(), db, e, nil)
	if err != nil || sha(same.Body) != want.Original {
		t.Errorf("stored %s (%v), want %s", sha(same.Body), err, want.Original)
	}
}
