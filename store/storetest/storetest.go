// Package storetest holds the tests that every transcript.Store must pass,
// whatever engine it uses.
package storetest

import (
	"context"
	"fmt"
	"io"
	"iter"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/retake-debugger/retake/transcript"
)

// Run runs the suite. open returns an empty store and closes it when the test ends.
func Run(t *testing.T, open func(t *testing.T) transcript.Store) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, transcript.Store)
	}{
		{"EmptyStore", emptyStore},
		{"Exchange_ComesBackWhole", exchangeWhole},
		{"Exchange_ZeroFields", exchangeZero},
		{"Exchange_StrangeText", exchangeStrange},
		{"Exchange_TwiceIsAnError", exchangeTwice},
		{"Exchange_Numbers", exchangeNumbers},
		{"Exchange_ResultsBelongToTheCaller", exchangeOwned},
		{"FindExchanges", findExchanges},
		{"Exchanges_Filters", listFilters},
		{"Exchanges_Pages", listPages},
		{"Exchanges_NestedReads", listNested},
		{"Links", links},
		{"Runs", runs},
		{"Runs_AddUp", runSums},
		{"RunUses_AddUpWhatCountsAlike", runUses},
		{"Marks", marks},
		{"Overrides", overrides},
		{"Takes", takes},
		{"TakeGrows", takeGrows},
		{"Calls", calls},
		{"AsOf", asOf},
		{"PutDerived", putDerived},
		{"PutDerived_Runs", putDerivedRuns},
		{"Notes", notes},
		{"Line", line},
		{"Agents", agents},
		{"Body_ComesBack", bodyComesBack},
		{"Body_GrowingHistories", bodyHistories},
		{"Body_OfKnownPieces", bodyOfKnownPieces},
		{"Body_NotFound", bodyNotFound},
		{"Body_ReadWhileWriting", bodyReadWhileWriting},
		{"PutBody_SourceFails", bodySourceFails},
		{"Update_SeesItsOwnWrites", updateSeesItself},
		{"Update_FailureLeavesNothing", updateFails},
		{"Update_PanicLeavesNothing", updatePanics},
		{"Update_CancelledLeavesNothing", updateCancelled},
		{"Update_OneAtATime", updateConcurrent},
		{"Tx_EndsWithUpdate", txEnds},
		{"Reads_AreCancelled", readsCancelled},
		{"Body_Pieces", piecesOfBody},
		{"Search_Finds", searchFinds},
		{"Search_Filters", searchFilters},
		{"Search_Progress", searchProgress},
		{"Search_Drops", searchDrops},
		{"Search_Together", searchTogether},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, open(t)) })
	}
}

// base is when the exchanges of the tests begin.
var base = time.Date(2026, 3, 4, 5, 6, 7, 891011, time.UTC)

// id makes a UUID of version 7 that sorts by n.
func latency(ms float64) *float64 { return &ms }

func id(n int) string { return fmt.Sprintf("0196b0aa-%04x-7000-8000-00000000%04x", n, n) }

// node makes a node that is not zero.
func node(n byte) (out transcript.Node) {
	out[0], out[15] = n, n+1
	return out
}

// full makes an exchange with every field set.
func full(n int) *transcript.Exchange {
	return &transcript.Exchange{
		ID: id(n), StartedAt: base.Add(time.Duration(n) * time.Second), EndedAt: base.Add(time.Duration(n)*time.Second + 1500*time.Millisecond),
		Upstream: "openai", Method: "POST", URL: "https://api.openai.com/v1/chat/completions?key=x", Status: 200,
		Outcome: transcript.StreamError, Lossy: true, Imported: transcript.ViewOnly,
		Error:           &transcript.Error{Type: "server_error", Code: "overloaded", Message: "try — later\nplease"},
		TransportEnding: &transcript.Ending{Outcome: transcript.UpstreamReset, Error: &transcript.Error{Code: "reset"}},
		Request: transcript.Message{
			Headers: map[string][]string{"Content-Type": {"application/json"}, "Content-Length": {fmt.Sprint(100 + n)}, "X-Many": {"a", "", "b"}},
			Bytes:   100, SHA256: fmt.Sprintf("%064x", n+1), ContentEncoding: "zstd", DecodeError: "unexpected end",
		},
		Response: transcript.Message{
			Headers: map[string][]string{"Content-Type": {"text/event-stream"}, "x-request-id": {fmt.Sprint("req_", n)}, "date": {"Wed"}},
			Bytes:   2000, SHA256: fmt.Sprintf("%064x", n+2), ContentEncoding: "gzip", DecodeError: "bad",
			Chunks: []transcript.Chunk{{Offset: 0, At: 12 * time.Millisecond}, {Offset: 700, At: 12*time.Millisecond + 5*time.Microsecond}, {Offset: 701, At: 90 * time.Second}},
		},
		Timing:  transcript.Timing{FirstByte: 12345678, FirstToken: 23456789, Duration: 1500 * time.Millisecond, Events: 200},
		Dialect: transcript.Chat, Stream: true, Complete: true, Model: "gpt-5", ResponseModel: "gpt-5-2026-01-01",
		ResponseID: fmt.Sprint("chatcmpl-", n), FinishReason: "tool_calls",
		Usage:   &transcript.Usage{InputTotal: 1000, InputUncached: 300, CacheRead: 600, CacheWrite: 100, CacheWrite1h: new(int64), Output: 50, Reasoning: 20, Total: 1050, Complete: true},
		Preview: "Fix the build", Calls: 2, Results: 3, Warnings: []string{"odd", "usage came \"twice\""},
		Link: transcript.Link{Run: id(9000 + n), Labelled: true, Parent: id(8000 + n), By: "history", Evidence: "the first 12 items are x34's",
			Shared: 12, InLen: 14, OutLen: 16, InNode: node(1), OutNode: node(2)},
	}
}

// plain makes an exchange that succeeded, with little in it.
func plain(n int) *transcript.Exchange {
	return &transcript.Exchange{ID: id(n), StartedAt: base.Add(time.Duration(n) * time.Second), Outcome: transcript.OK, Status: 200,
		Method: "POST", Upstream: "openai", URL: "http://127.0.0.1/v1/responses", Dialect: transcript.Responses, Model: "gpt-5"}
}

func update(t *testing.T, s transcript.Store, f func(transcript.Tx) error) {
	t.Helper()
	if err := s.Update(t.Context(), f); err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, s transcript.Store, list ...*transcript.Exchange) {
	t.Helper()
	update(t, s, func(tx transcript.Tx) error {
		for _, e := range list {
			if err := tx.PutExchange(e); err != nil {
				return err
			}
		}
		return nil
	})
}

// same holds values against each other; an empty list is as good as none.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, d)
	}
}

// pieces cuts nothing: it hands on what it is given, in a buffer that is
// spoiled after each step, as the contract allows.
func pieces(parts ...[]byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, p := range parts {
			b := append([]byte(nil), p...)
			more := yield(b, nil)
			for i := range b {
				b[i] = '!'
			}
			if !more {
				return
			}
		}
	}
}

func readBody(ctx context.Context, r transcript.Reader, id transcript.BodyID) ([]byte, error) {
	body, err := r.Body(ctx, id)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return io.ReadAll(body)
}

func collect(seq iter.Seq2[*transcript.Exchange, error]) (numbers []int64, err error) {
	for e, err := range seq {
		if err != nil {
			return numbers, err
		}
		numbers = append(numbers, e.N)
	}
	return numbers, nil
}
