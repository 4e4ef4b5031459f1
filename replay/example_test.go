package replay_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/recorder/spool"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/replay/minimise"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// weatherModel stands in for a model API: it asks for the weather once and then says
// what it was told.
func weatherModel() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		message, finish := `{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}`, "tool_calls"
		if _, told, ok := strings.Cut(string(body), `"tool_call_id":"call_1","content":"`); ok {
			told, _, _ = strings.Cut(told, `"`)
			message, finish = `{"role":"assistant","content":"It is `+told+`."}`, "stop"
		}
		fmt.Fprintf(w, `{"object":"chat.completion","model":"m","choices":[{"index":0,"message":%s,"finish_reason":"%s"}]}`, message, finish)
	}))
}

// recordedWeather stores a run of two steps and gives its first one.
func recordedWeather(ctx context.Context, db *store.DB, model string) *transcript.Exchange {
	const first = `{"model":"m","messages":[{"role":"user","content":"Weather?"}]}`
	const second = `{"model":"m","messages":[{"role":"user","content":"Weather?"},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]},` +
		`{"role":"tool","tool_call_id":"call_1","content":"raining"}]}`
	var list []*transcript.Capture
	for i, request := range []string{first, second} {
		at := time.Date(2026, 1, 1, 0, i, 0, 0, time.UTC)
		resp, err := http.Post(model+"/v1/chat/completions", "application/json", strings.NewReader(request))
		if err != nil {
			panic(err)
		}
		answer, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		list = append(list, &transcript.Capture{ID: fmt.Sprintf("0190a000-0000-7000-8000-00000000000%d", i), StartedAt: at, EndedAt: at, Method: "POST", URL: model + "/v1/chat/completions",
			Status: 200, Outcome: transcript.OK, Request: body(request), Response: body(answer)})
	}
	stored, err := ingest.Commit(ctx, db, list)
	if err != nil {
		panic(err)
	}
	return stored[0]
}

// A recorded run is played again with another tool result. No tool runs: results that are
// not edited come from the recording.
func ExamplePlan() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "replay")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	db, err := store.Open(filepath.Join(dir, "retake.db"), store.Options{})
	if err != nil {
		panic(err)
	}
	defer db.Close()
	spool, err := spool.Open(filepath.Join(dir, "spool"), spool.Options{})
	if err != nil {
		panic(err)
	}
	defer spool.Close()
	model := weatherModel()
	defer model.Close()
	origin := recordedWeather(ctx, db, model.URL)

	plan := replay.Plan{
		Origin: origin,
		Edits:  []transcript.Edit{{Op: transcript.SetResult, CallID: "call_1", Text: "snowing"}},
		Limits: replay.Limits{Steps: 10},
	}
	ready, err := plan.Prepare(ctx, db)
	if err != nil {
		panic(err)
	}
	fmt.Println("likely requests:", ready.Estimate(nil).Requests)
	player := &replay.Player{Store: db, Transport: recorder.NewTransport(nil, recorder.Options{Spool: spool}), WithID: recorder.WithID}
	take, err := ready.Play(ctx, player, nil)
	if err != nil {
		panic(err)
	}
	for _, r := range take.Results {
		fmt.Println(r.Name, "was", r.Source)
	}
	fmt.Println(take.Ref, take.StopReason, "after", len(take.Steps), "steps:", take.FinalText)
	// Output:
	// likely requests: 2
	// weather was edited
	// t1 answered after 2 steps: It is snowing.
}

// Of a request the smallest part is sought to which the model still answers that it
// rains: nothing but the call and its result.
func ExampleMinimiser() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "replay")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	db, err := store.Open(filepath.Join(dir, "retake.db"), store.Options{})
	if err != nil {
		panic(err)
	}
	defer db.Close()
	spool, err := spool.Open(filepath.Join(dir, "spool"), spool.Options{})
	if err != nil {
		panic(err)
	}
	defer spool.Close()
	model := weatherModel()
	defer model.Close()
	recordedWeather(ctx, db, model.URL)
	last, err := db.Exchange(ctx, "0190a000-0000-7000-8000-000000000001")
	if err != nil {
		panic(err)
	}

	req, err := replay.NewRequest(ctx, db, last, nil)
	if err != nil {
		panic(err)
	}
	minimiser := minimise.Minimiser{
		Player:    &replay.Player{Store: db, Transport: recorder.NewTransport(nil, recorder.Options{Spool: spool}), WithID: recorder.WithID},
		Request:   req,
		Predicate: replay.TextMatches(regexp.MustCompile("raining")),
		Samples:   3,
	}
	smallest, err := minimiser.Run(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d of %d items, least: %v\n", smallest.Items.Kept, smallest.Items.Of, smallest.Least)
	for _, d := range smallest.Decisive {
		fmt.Println(d.Kind, d.Name, d.At, d.Text)
	}
	// Output:
	// 1 of 2 items, least: true
	// tool_call weather [/messages/1/tool_calls/0 /messages/2] raining
}
