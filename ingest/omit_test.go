package ingest_test

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/ingest/decode"
	"github.com/retake-debugger/retake/transcript"
)

func TestCommitter_OmitsImages(t *testing.T) {
	picture := "iVBORw0KGgo" + strings.Repeat("QUJD", 300)
	other := "iVBORw0KGgo" + strings.Repeat("QUJE", 300)
	long := strings.Repeat("a long text that is no picture ", 100)
	request := messagesRequest(`{"role":"user","content":[{"type":"text","text":"`+long+`"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"`+picture+`"}},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"`+other+`"}}]}`,
		ask("and data:image/png;base64,"+picture))
	plain := mustOpen(t)
	want := commit(t, plain, capture(1, messagesPath, request, messagesAnswer(`{"type":"text","text":"ok"}`)))[0]
	db := mustOpen(t)
	c := &ingest.Committer{Decoder: decode.Decoder{Omit: decode.OmitImages}}
	stored, err := c.Commit(context.Background(), db, []*transcript.Capture{capture(1, messagesPath, request, messagesAnswer(`{"type":"text","text":"ok"}`))})
	if err != nil {
		t.Fatal(err)
	}
	e := stored[0]
	if e.Request.Omitted != "images" || e.Request.SHA256 != want.Request.SHA256 || e.Request.Bytes != want.Request.Bytes || e.Response.Omitted != "" {
		t.Errorf("request %+v", e.Request)
	}
	r, err := db.Body(context.Background(), e.Request.Body)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	body, err := io.ReadAll(r)
	if err != nil || !json.Valid(body) || len(body) != len(request) {
		t.Fatalf("%d bytes (%v), want valid JSON of %d", len(body), err, len(request))
	}
	if n := strings.Count(string(body), "[image omitted"); n != 2 || strings.Count(string(body), "QUJDQUJD") > 400 || !strings.Contains(string(body), long) {
		t.Errorf("%d pictures omitted, want 2 and nothing else", n)
	}
	verified(t, db)
	if did := reindexAll(t, db); did.Changed != 0 {
		t.Errorf("derived again: %+v", did)
	}
}

func TestCommitter_OmitsBodies(t *testing.T) {
	db := mustOpen(t)
	c := &ingest.Committer{Decoder: decode.Decoder{Omit: decode.OmitBodies}}
	stored, err := c.Commit(context.Background(), db, []*transcript.Capture{
		capture(1, "/v1/chat/completions", chatAsk, chatCall), capture(2, "/v1/chat/completions", chatReply, chatAnswer)})
	if err != nil {
		t.Fatal(err)
	}
	first, second := stored[0], stored[1]
	if first.Request.Omitted != "bodies" || first.Request.Body != 0 || first.Request.Bytes != int64(len(chatAsk)) || first.Model != "m" || first.Usage == nil {
		t.Errorf("exchange %+v", first)
	}
	if second.Link.Parent != first.ID {
		t.Errorf("parent = %q, want %q", second.Link.Parent, first.ID)
	}
	verified(t, db)
	if did := reindexAll(t, db); did.Changed != 0 || did.Unreadable != 0 {
		t.Errorf("derived again: %+v", did)
	}
}
