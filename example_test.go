package retake_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/retake-debugger/retake"
	"github.com/retake-debugger/retake/examples/scripted"
	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
)

const question = `{"model":"gpt-5","messages":[{"role":"user","content":"Is it raining in Oslo?"}]}`

const withResult = `{"model":"gpt-5","messages":[{"role":"user","content":"Is it raining in Oslo?"},` +
	`{"role":"assistant","content":null,"tool_calls":[{"id":"call_000002","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Oslo\"}"}}]},` +
	`{"role":"tool","tool_call_id":"call_000002","content":"rain, 7 degrees"}]}`

// newModel starts a model that asks for the weather and answers by what it gets.
func newModel() *httptest.Server {
	return httptest.NewServer(&scripted.Model{Script: []scripted.Step{
		{Calls: []scripted.Call{{Name: "get_weather", Arguments: `{"city":"Oslo"}`}}},
		{Answer: func(results []string) string {
			if strings.Contains(strings.Join(results, " "), "rain") {
				return "Yes, take an umbrella."
			}
			return "No, it is dry."
		}},
	}})
}

// ask sends a request to a model and reads the answer to its end.
func ask(client *http.Client, url, body string) error {
	resp, err := client.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// open opens a database in a folder that remove removes.
func open(ctx context.Context) (db *retake.DB, remove func()) {
	dir, err := os.MkdirTemp("", "retake-example-")
	if err != nil {
		log.Fatal(err)
	}
	if db, err = retake.Open(ctx, filepath.Join(dir, "agent.db"), retake.Options{}); err != nil {
		log.Fatal(err)
	}
	return db, func() { os.RemoveAll(dir) }
}

// Record what an HTTP client and a model say to each other, and read it back.
func Example() {
	ctx := context.Background()
	model := newModel()
	defer model.Close()
	db, remove := open(ctx)
	defer remove()
	defer db.Close()

	client := &http.Client{Transport: db.Transport(nil)}
	for _, body := range []string{question, withResult} {
		if err := ask(client, model.URL, body); err != nil {
			log.Fatal(err)
		}
	}
	if err := db.Flush(ctx); err != nil {
		log.Fatal(err)
	}
	run, err := db.Run(ctx, "last")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(run.Ref(), run.Name)
	for step, err := range run.Steps(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		for _, e := range step.Entries {
			fmt.Println(step.Step.N, e.Item.Kind, e.Item.Name+e.Item.Text)
		}
	}
	for _, p := range run.Pairs {
		fmt.Println(p.Name, p.State)
	}
	// Output:
	// r1 Is it raining in Oslo?
	// 1 message Is it raining in Oslo?
	// 1 tool_call get_weather
	// 2 message Yes, take an umbrella.
	// get_weather paired
}

// Send a recorded step again with another tool result.
func ExampleDB_Replay() {
	ctx := context.Background()
	model := newModel()
	defer model.Close()
	db, remove := open(ctx)
	defer remove()
	defer db.Close()
	client := &http.Client{Transport: db.Transport(nil)}
	for _, body := range []string{question, withResult} {
		if err := ask(client, model.URL, body); err != nil {
			log.Fatal(err)
		}
	}
	if err := db.Flush(ctx); err != nil {
		log.Fatal(err)
	}

	take, err := db.Replay(ctx, "last", replay.Plan{
		Edits: []transcript.Edit{{Op: transcript.SetResult, CallID: "call_000002", Text: "sunny, 21 degrees"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(take.Ref, take.FinalText)
	// Output:
	// t1 No, it is dry.
}

// Record the calls that a server gets.
func ExampleDB_Middleware() {
	ctx := context.Background()
	db, remove := open(ctx)
	defer remove()
	defer db.Close()
	server := httptest.NewServer(db.Middleware(&scripted.Model{Script: []scripted.Step{
		{Answer: func([]string) string { return "I do not know." }},
	}}))
	defer server.Close()

	if err := ask(http.DefaultClient, server.URL, question); err != nil {
		log.Fatal(err)
	}
	if err := db.Flush(ctx); err != nil {
		log.Fatal(err)
	}
	x, err := db.Exchange(ctx, "x:last")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(x.Ref(), x.Dialect, x.Status, x.Text)
	// Output:
	// x1 chat 200 I do not know.
}

// Run the recording proxy inside a program.
func ExampleDB_Proxy() {
	ctx := context.Background()
	model := newModel()
	defer model.Close()
	db, remove := open(ctx)
	defer remove()
	defer db.Close()

	upstream, err := url.Parse(model.URL)
	if err != nil {
		log.Fatal(err)
	}
	proxy, err := db.Proxy(recorder.Upstream{URL: upstream})
	if err != nil {
		log.Fatal(err)
	}
	defer proxy.Close()
	server := httptest.NewServer(proxy)
	defer server.Close()

	if err := ask(http.DefaultClient, server.URL, question); err != nil {
		log.Fatal(err)
	}
	if err := db.Flush(ctx); err != nil {
		log.Fatal(err)
	}
	runs, err := db.Runs(ctx, "model:gpt-5")
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range runs {
		fmt.Println(r.Ref(), r.Name, r.Status, r.Counts.Calls)
	}
	// Output:
	// r1 Is it raining in Oslo? running 1
}
