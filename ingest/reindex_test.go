package ingest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/retake-debugger/retake/ingest/reindex"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// stored is all that is derived, and what it is derived from.
type stored struct {
	Exchanges []*transcript.Exchange
	Calls     []transcript.CallRow
}

func everything(t *testing.T, db *store.DB) stored {
	t.Helper()
	var all stored
	var ids []string
	for e, err := range db.Exchanges(t.Context(), transcript.Filter{Oldest: true}) {
		if err != nil {
			t.Fatal(err)
		}
		whole, err := db.Exchange(t.Context(), e.ID)
		if err != nil {
			t.Fatal(err)
		}
		all.Exchanges = append(all.Exchanges, whole)
		ids = append(ids, e.ID)
	}
	var err error
	if all.Calls, err = db.Calls(t.Context(), ids); err != nil {
		t.Fatal(err)
	}
	return all
}

func same(t *testing.T, got, want stored) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("derived again it differs (-want +got):\n%s", d)
	}
}

// variety records what exercises every part of deriving: histories of all
// kinds, labels, choices between equals, ends that only the answer tells.
func variety(t *testing.T, db *store.DB) {
	t.Helper()
	n := 0
	next := func(path, request, response string, change ...func(*transcript.Capture)) {
		n++
		c := capture(n, path, request, response)
		for _, f := range change {
			f(c)
		}
		commit(t, db, c)
	}
	label := func(c *transcript.Capture) { c.Label = "nightly" }
	for range 2 { // identical tasks
		next("/v1/chat/completions", chatAsk, chatCall)
		next("/v1/chat/completions", chatReply, chatAnswer)
	}
	next("/v1/chat/completions", chatAsk, chatCall, label)
	next("/v1/chat/completions", chatReply, chatAnswer, label)
	next("/v1/chat/completions", chatReply, chatAnswer)
	next("/v1/responses", `{"model":"m","input":"Weather?"}`, `{"id":"resp_1","object":"response","status":"completed","model":"m","output":[{"type":"function_call","id":"fc_1","call_id":"call_a","name":"weather","arguments":"{}"}]}`)
	next("/v1/responses", `{"model":"m","previous_response_id":"resp_1","input":[{"type":"function_call_output","call_id":"call_a","output":"rain"}]}`, `{"id":"resp_2","object":"response","status":"completed","model":"m","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}]}`)
	next("/v1/responses", `{"model":"m","previous_response_id":"resp_2","input":"And now?"}`, `{"id":"resp_3","object":"response","status":"completed","output":[]}`)
	next("/v1/responses", `{"model":"m","previous_response_id":"resp_never","input":"And now?"}`, `{"id":"resp_4","object":"response","status":"completed","output":[]}`)
	next("/v1/chat/completions", chatAsk, `{"error":{"message":"slow down","type":"rate_limit"}}`, func(c *transcript.Capture) { c.Status = 429 })
	stream := "data: {\"id\":\"c\",\"model\":\"m-1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"}}]}\n\n"
	end := "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	pieces := func(c *transcript.Capture) {
		c.Chunks = []transcript.Chunk{{Offset: 0, At: 123456789}, {Offset: 10, At: 223456789}, {Offset: int64(len(stream)), At: 323456789}}
	}
	hungUp := func(c *transcript.Capture) {
		c.Outcome, c.Error = transcript.ClientDisconnect, &transcript.Error{Type: "client_disconnect", Message: "gone"}
	}
	next("/v1/chat/completions", chatAsk, stream+end, pieces)
	next("/v1/chat/completions", chatAsk, stream+end, pieces, hungUp)
	next("/v1/chat/completions", chatAsk, stream, pieces, hungUp)
	next("/v1/chat/completions", chatAsk, "data: {\"error\":{\"message\":\"broke\"}}\n\n", hungUp)
	next("/v1/chat/completions", chatAsk, stream, func(c *transcript.Capture) { c.Outcome = transcript.UpstreamReset })
	next("/elsewhere", `{"a":1}`, "no JSON \x00\xff")
	next("/v1/chat/completions", "", "", func(c *transcript.Capture) { c.Request = broken(200) })
	header := func(lines ...string) func(*transcript.Capture) {
		return func(c *transcript.Capture) { with(c, lines...) }
	}
	session := header("X-Session-Id: ses_1") // a title, then the agent
	next("/v1/chat/completions", chatRequest(user("Make a title")), chatAnswer, session)
	next("/v1/chat/completions", strings.Replace(chatRequest(user("Do it")), `{"model"`, `{"tools":[{"type":"function","function":{"name":"f"}}],"model"`, 1), chatCall, session)
	main, sub := header("X-Claude-Code-Session-Id: s"), header("X-Claude-Code-Session-Id: s", "X-Claude-Code-Agent-Id: a")
	next(messagesPath, messagesRequest(ask("Compare both")), messagesAnswer(use("toolu_1", "Task", `{"prompt":"Study module A"}`), use("toolu_2", "Task", `{"prompt":"Study module B"}`)), main)
	next(messagesPath, messagesRequest(ask("Study module A")), messagesAnswer(`{"type":"text","text":"big"}`), sub)
	next(messagesPath, messagesRequest(ask("Study module B")), messagesAnswer(`{"type":"text","text":"small"}`), main)
	next(messagesPath, messagesRequest(ask("Something else in this session")), messagesAnswer(`{"type":"text","text":"fine"}`), main)
	for _, id := range []string{"call_x9y8z7w6", "call_q1w2e3r4"} { // a client that rewrites its history
		next("/v1/chat/completions", chatRequest(user("Go")), chatAnswerWith(chatCalls(id)...))
		next("/v1/chat/completions", chatRequest(user("Rewritten"), assistant(chatCalls(id)...), tool(id, "ok")), chatAnswer)
	}
}

func reindexAll(t *testing.T, db *store.DB) reindex.Result {
	t.Helper()
	did, err := reindex.Run(t.Context(), db, "test", nil)
	if err != nil {
		t.Fatal(err)
	}
	return did
}

func verified(t *testing.T, db *store.DB) {
	t.Helper()
	found, err := reindex.Compare(t.Context(), db, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range found {
		t.Errorf("x%d: %v", d.N, d)
	}
	if problems, err := db.Verify(t.Context(), nil); err != nil || len(problems) > 0 {
		t.Errorf("verify: %v, %v", problems, err)
	}
}

// pruning reads as if a prune came between the readings of each exchange, once.
type pruning struct {
	transcript.Reader
	seen map[string]bool
}

func (p pruning) Calls(ctx context.Context, exchanges []string) ([]transcript.CallRow, error) {
	if len(exchanges) == 1 && !p.seen[exchanges[0]] {
		p.seen[exchanges[0]] = true
		return nil, nil
	}
	return p.Reader.Calls(ctx, exchanges)
}

func TestRederive_LooksTwiceAtWhatDiffers(t *testing.T) {
	db := mustOpen(t)
	variety(t, db)
	p := pruning{db, map[string]bool{}}
	if found, err := reindex.Compare(t.Context(), p, nil); err != nil || len(found) > 0 || len(p.seen) == 0 {
		t.Errorf("%v, %v, %d looked at", found, err, len(p.seen))
	}
}

func TestReindex_ChangesNothingThatIsRight(t *testing.T) {
	db := mustOpen(t)
	variety(t, db)
	want := everything(t, db)
	verified(t, db)
	did := reindexAll(t, db)
	if did.Exchanges != int64(len(want.Exchanges)) || did.Changed != 0 || did.Unreadable != 0 {
		t.Errorf("%+v, want %d exchanges and no change", did, len(want.Exchanges))
	}
	same(t, everything(t, db), want)
}

// spoil replaces all that is derived, as another version might have derived it.
// Runs and agents stay: their ids come from nowhere else.
func spoil(t *testing.T, db *store.DB) {
	t.Helper()
	for _, e := range everything(t, db).Exchanges {
		bad := *e
		bad.Dialect, bad.Model, bad.ResponseID, bad.Usage, bad.Preview = "old", "old", "old", nil, "old"
		bad.Calls, bad.Results, bad.Warnings, bad.Timing.FirstToken = 7, 7, []string{"old"}, 0
		bad.Link = transcript.Link{Run: e.Link.Run, Labelled: e.Link.Labelled, Agent: e.Link.Agent, OutNode: transcript.Node{1}, InNode: transcript.Node{2}}
		err := db.Update(t.Context(), func(tx transcript.Tx) error {
			return tx.PutDerived(&bad, []transcript.CallRow{{At: "/old", CallID: "old"}}, nil)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestReindex_EqualsWhatIngestDerived(t *testing.T) {
	db := mustOpen(t)
	variety(t, db)
	want := everything(t, db)
	spoil(t, db)
	if found, err := reindex.Compare(t.Context(), db, nil); err != nil || len(found) != len(want.Exchanges) {
		t.Errorf("%d differences found, want %d; %v", len(found), len(want.Exchanges), err)
	}
	if did := reindexAll(t, db); did.Changed != int64(len(want.Exchanges)) {
		t.Errorf("%+v, want %d changes", did, len(want.Exchanges))
	}
	same(t, everything(t, db), want)
	verified(t, db)
	// What is found now is found by what it is now.
	commit(t, db, capture(90, "/v1/responses", `{"model":"m","previous_response_id":"resp_3","input":"More"}`, `{"id":"resp_5","object":"response","status":"completed","output":[]}`))
	all := everything(t, db).Exchanges
	if l := all[len(all)-1].Link; l.By != "previous_response_id" {
		t.Errorf("link = %+v", l)
	}
}

// Exchanges that are in runs they do not belong to find their own again; labels
// stay.
func TestReindex_SortsRuns(t *testing.T) {
	db := mustOpen(t)
	variety(t, db)
	want := everything(t, db)
	last := want.Exchanges[len(want.Exchanges)-1].Link.Run
	for _, e := range want.Exchanges {
		if e.Link.Labelled {
			continue
		}
		bad := *e
		bad.Link = transcript.Link{Run: last}
		if err := db.Update(t.Context(), func(tx transcript.Tx) error { return tx.PutDerived(&bad, nil, nil) }); err != nil {
			t.Fatal(err)
		}
	}
	reindexAll(t, db)
	got := everything(t, db)
	renamed, agents := map[string]string{}, map[string]string{}
	for i, e := range got.Exchanges {
		if to, ok := agents[e.Link.Agent]; ok && to != want.Exchanges[i].Link.Agent {
			t.Errorf("x%d is of an agent with others", e.N)
		}
		agents[e.Link.Agent] = want.Exchanges[i].Link.Agent
		e.Link.Agent = want.Exchanges[i].Link.Agent
		if to, ok := renamed[e.Link.Run]; ok && to != want.Exchanges[i].Link.Run {
			t.Errorf("x%d is in a run with others", e.N)
		}
		renamed[e.Link.Run] = want.Exchanges[i].Link.Run
		e.Link.Run = want.Exchanges[i].Link.Run
	}
	same(t, got, want)
	for run := range renamed {
		if _, err := db.Run(t.Context(), run); err != nil {
			t.Error(err)
		}
	}
}

// It goes on where it was cut off, unless another version began it.
func TestReindex_Resumes(t *testing.T) {
	db := mustOpen(t)
	for n := range 100 {
		commit(t, db, capture(n+1, "/v1/chat/completions", fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":"Task %d"}]}`, n), chatAnswer))
	}
	want := everything(t, db)
	spoil(t, db)
	ctx, cancel := context.WithCancel(t.Context())
	did, err := reindex.Run(ctx, db, "one", func(done, newest int64) {
		if newest != 100 {
			t.Errorf("the newest is x%d", newest)
		}
		cancel()
	})
	if err == nil || did.Changed == 0 || did.Changed == 100 {
		t.Fatalf("cut off: %+v, %v", did, err)
	}
	rest, err := reindex.Run(t.Context(), db, "one", nil)
	if err != nil || rest.From != did.Exchanges || rest.Exchanges != 100-did.Exchanges {
		t.Errorf("resumed: %+v after %+v, %v", rest, did, err)
	}
	same(t, everything(t, db), want)
	if did, err = reindex.Run(t.Context(), db, "one", nil); err != nil || did.From != 0 || did.Exchanges != 100 {
		t.Errorf("again: %+v, %v", did, err)
	}
	if err := db.Update(t.Context(), func(tx transcript.Tx) error { return tx.SetNote("reindex", `{"version":"one","done":50}`) }); err != nil {
		t.Fatal(err)
	}
	if did, err = reindex.Run(t.Context(), db, "two", nil); err != nil || did.From != 0 || did.Exchanges != 100 {
		t.Errorf("another version: %+v, %v", did, err)
	}
}

// Exchanges that come meanwhile are derived too, and linked to what is right by
// then.
func TestReindex_WhileOthersRecord(t *testing.T) {
	db := mustOpen(t)
	history := []string{user("Go")}
	step := func(n int) {
		answer := fmt.Sprintf(`{"id":"c%d","model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"a%d"},"finish_reason":"stop"}]}`, n, n)
		commit(t, db, capture(n, "/v1/chat/completions", chatRequest(history...), answer))
		history = append(history, fmt.Sprintf(`{"role":"assistant","content":"a%d"}`, n), user(fmt.Sprint("next ", n)))
	}
	for n := 1; n <= 80; n++ {
		step(n)
	}
	spoil(t, db)
	n := 81
	if _, err := reindex.Run(t.Context(), db, "test", func(done, newest int64) {
		if n <= 83 {
			step(n)
			n++
		}
	}); err != nil {
		t.Fatal(err)
	}
	all := everything(t, db).Exchanges
	if len(all) != 83 {
		t.Fatalf("%d exchanges", len(all))
	}
	for i, e := range all[1:] {
		if e.Link.Parent != all[i].ID || e.Link.Run != all[0].Link.Run {
			t.Errorf("x%d: link = %+v", e.N, e.Link)
		}
	}
	verified(t, db)
}

func TestReindex_LeavesWhatItCannotRead(t *testing.T) {
	db := mustOpen(t)
	variety(t, db)
	want := everything(t, db)
	hurt := *want.Exchanges[0]
	hurt.ID, hurt.Request.Body = "0190a000-0000-7000-8000-00000000ffff", 1<<40
	if err := db.Update(t.Context(), func(tx transcript.Tx) error { return tx.PutExchange(&hurt) }); err != nil {
		t.Fatal(err)
	}
	if did := reindexAll(t, db); did.Unreadable != 1 || did.Changed != 0 {
		t.Errorf("%+v", did)
	}
	if found, err := reindex.Compare(t.Context(), db, nil); err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
}

func TestDifference_String(t *testing.T) {
	d := reindex.Difference{N: 3, Parts: []string{"usage", "link"}}
	if s := d.String(); !strings.Contains(s, "link, usage") {
		t.Error(s)
	}
}
