package ingest_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/transcript"
)

func TestCommitter_UsesMemoryAgainWithoutATrace(t *testing.T) {
	db := mustOpen(t)
	var committer ingest.Committer
	var printed []string
	var all []*transcript.Exchange
	for n := range 6 {
		letter := string(rune('a' + n))
		long := strings.Repeat(letter, 60_000)
		request := `{"model":"model-` + letter + `","messages":[{"content":"nobody ` + long + `"},{"role":"user","content":"` + long + `"}]}`
		response := `{"id":"id-` + letter + `","model":"answered-` + letter + `","error":{"type":"type-` + letter + `","message":"` + long + `"},"pad":"` + long + `"}`
		c := capture(n, "/v1/chat/completions", request, response)
		c.Status = 500
		stored, err := committer.Commit(context.Background(), db, []*transcript.Capture{c})
		if err != nil {
			t.Fatal(err)
		}
		all, printed = append(all, stored[0]), append(printed, fmt.Sprintf("%+v %+v", stored[0], stored[0].Error))
		r, err := db.Body(context.Background(), stored[0].Request.Body)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(r); err != nil || string(b) != request {
			t.Errorf("request %d does not come back: %v", n, err)
		}
		r.Close()
	}
	for n, e := range all {
		if now := fmt.Sprintf("%+v %+v", e, e.Error); now != printed[n] {
			t.Errorf("exchange %d changed to %.300s", n, now)
		}
	}
}
