package web_test

import (
	"testing"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/web"
)

// Of an exchange whose request is damaged the page shows the answer and says so.
func TestTranscript_OfADamagedRequest(t *testing.T) {
	db := sampleStore(t)
	e, err := db.ExchangeN(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	answer := e.ResponseModel
	e.ID, e.Request.Body = "0190a000-0000-7000-8000-00000000dead", 1<<40
	if err := db.Update(t.Context(), func(tx transcript.Tx) error { return tx.PutExchange(e) }); err != nil {
		t.Fatal(err)
	}
	wantText(t, open(t, web.New(options(db)), "/x/0190a000-0000-7000-8000-00000000dead"), "The request is damaged in the database: only the answer can be read.", "answer", answer)
}
