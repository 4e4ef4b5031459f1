package replay_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/analysis"
	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/replay/replaytest"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// Every recorded request goes out as it was; with its last tool result edited only
// that value is another.
func TestCorpus_EditsChangeWhatTheyNameOnly(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the whole corpus")
	}
	ctx := context.Background()
	captures := replaytest.Corpus(t)
	db, err := store.Open(filepath.Join(t.TempDir(), "t.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	count := map[string]int{}
	for len(captures) > 0 {
		batch := captures[:min(200, len(captures))]
		captures = captures[len(batch):]
		stored, err := ingest.Commit(ctx, db, batch)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range stored {
			switch e.Dialect {
			case transcript.Chat, transcript.Responses, transcript.Messages:
				replayCorpus(t, db, e, batch[i], count)
			}
		}
	}
	for _, d := range []string{"chat", "responses", "messages"} {
		t.Logf("%-9s %d sent as recorded, %d not replayable; last result edited in %d, %d of them with history that the provider held; %d have no result, %d lack history",
			d, count[d+" same"], count[d+" refused"], count[d+" edited"], count[d+" held"], count[d+" none"], count[d+" missing"])
		if count[d+" same"] == 0 || count[d+" edited"] == 0 {
			t.Errorf("no case found for %s", d)
		}
	}
}

func replayCorpus(t *testing.T, db *store.DB, e *transcript.Exchange, c *transcript.Capture, count map[string]int) {
	t.Helper()
	ctx, d := context.Background(), string(e.Dialect)
	r, err := replay.NewRequest(ctx, db, e, nil)
	if err != nil {
		if !errors.Is(err, replay.ErrCut) {
			t.Errorf("%s x%d: %v", c.Label, e.N, err)
		}
		count[d+" refused"]++
		return
	}
	if string(r.Body) != string(c.Request.(body)) || r.URL != c.URL && !strings.Contains(r.URL, "redacted") {
		t.Errorf("%s x%d is not sent as it was recorded", c.Label, e.N)
	}
	count[d+" same"]++
	whole, held, err := replay.Full(ctx, db, e)
	if errors.Is(err, replay.ErrHeld) {
		count[d+" missing"]++
		return
	}
	if err != nil {
		t.Errorf("%s x%d: %v", c.Label, e.N, err)
		return
	}
	var last *transcript.Item
	items := inputOf(e, whole)
	for _, m := range transcript.PairItems(items) {
		if m.Result >= 0 && !items[m.Result].ServerSide && (last == nil || m.State == transcript.Paired) {
			last = &items[m.Result]
		}
	}
	if last == nil {
		count[d+" none"]++
		return
	}
	const text = "edited \"é\"\n<b>"
	r, err = replay.NewRequest(ctx, db, e, []transcript.Edit{{Op: transcript.SetResult, At: last.At, Text: text}})
	if err != nil {
		t.Errorf("%s x%d: edit of %s: %v", c.Label, e.N, last.At, err)
		return
	}
	onlyUnder(t, fmt.Sprintf("%s x%d", c.Label, e.N), whole, r.Body, last.At)
	count[d+" edited"]++
	if held {
		count[d+" held"]++
	}
}

func inputOf(e *transcript.Exchange, request []byte) []transcript.Item {
	return dialect.Decode(e.Dialect, &dialect.Wire{Method: e.Method, URL: e.URL, Request: request}).Input
}

// onlyUnder fails unless one value differs, under that pointer, and all bytes outside
// the value there are the same.
func onlyUnder(t *testing.T, name string, before, after []byte, at string) {
	t.Helper()
	if differ, ok := analysis.DiffJSON(before, after); !ok || len(differ) != 1 || !strings.HasPrefix(differ[0].At, at+"/") {
		t.Errorf("%s: edit of %s: differs at %v", name, at, differ)
	}
	value, err := rawjson.Value(before, at)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	head := 0
	for head < min(len(before), len(after)) && before[head] == after[head] {
		head++
	}
	tail := 0
	for tail < min(len(before), len(after))-head && before[len(before)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	if changed := before[head : len(before)-tail]; !bytes.Contains(value, changed) {
		t.Errorf("%s: edit of %s: other bytes than its own changed: %.200q", name, at, changed)
	}
}
