package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/examples/scripted"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"recorder": main,
		"talk":     func() { exit("talk", talk(os.Args[1], os.Args[2])) },
		"pairs":    func() { exit("pairs", pairs(os.Args[1])) },
		"requests": func() { exit("requests", requests(os.Args[1])) },
	})
}

func exit(name string, err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}

// TestScripts runs recorder as a user would. $MODEL is a scripted model; talk
// DIALECT whole|stream is an agent with a tool loop; pairs DB prints the calls
// of a database with the number of their results, requests DB what is stored of
// requests.
func TestScripts(t *testing.T) {
	if found, err := filepath.Glob("testdata/*.txtar"); err != nil || len(found) == 0 {
		t.Fatalf("no scripts found (%v)", err)
	}
	model := httptest.NewServer(&scripted.Model{Script: []scripted.Step{
		{Thinking: "hm", Calls: []scripted.Call{{Name: "weather", Arguments: `{"city":"Oslo"}`}, {Name: "time", Arguments: `{}`}}},
		{Answer: func(results []string) string { return "The tools said: " + strings.Join(results, " | ") }},
	}})
	t.Cleanup(model.Close)
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			port, err := freePort()
			if err != nil {
				return err
			}
			env.Setenv("PORT", port) // scripts run side by side
			env.Setenv("MODEL", model.URL)
			env.Setenv("RETAKE_DB", filepath.Join(env.WorkDir, "t.db"))
			for _, v := range []string{"OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "OLLAMA_HOST"} {
				env.Setenv(v, "")
			}
			return nil
		},
	})
}

// freePort is a port of loopback on which nothing listens.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port), nil
}

// talk asks, runs the tools that are called, and asks again until the model
// only speaks. It prints the last text.
func talk(name, mode string) error {
	d := transcript.Dialect(name)
	stream := fmt.Sprintf(`"stream":%v`, mode == "stream")
	question := `[{"role":"user","content":"Weather and time?"}]`
	base, path, body := os.Getenv("OPENAI_BASE_URL"), "/chat/completions", `{"model":"m",`+stream+`,"messages":`+question+`}`
	switch d {
	case transcript.Responses:
		path, body = "/responses", `{"model":"m",`+stream+`,"input":`+question+`}`
	case transcript.Messages:
		base, path, body = os.Getenv("ANTHROPIC_BASE_URL"), "/v1/messages", `{"model":"m","max_tokens":9,`+stream+`,"messages":`+question+`}`
	}
	for range 4 {
		turn, err := ask(d, base+path, body)
		if err != nil {
			return err
		}
		var results []dialect.Result
		for _, it := range turn.Output {
			if it.Kind == transcript.ToolCall {
				results = append(results, dialect.Result{CallID: it.CallID, Text: it.Name + " done"})
			}
		}
		if results == nil {
			fmt.Println(turn.Text)
			return nil
		}
		next, err := dialect.Continue(d, []byte(body), turn.Response, results)
		if err != nil {
			return err
		}
		body = string(next)
	}
	return fmt.Errorf("the model does not end")
}

func ask(d transcript.Dialect, url, body string) (*transcript.Turn, error) {
	req, err := http.NewRequest("POST", url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer sk-secret-of-the-test")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", resp.Status, bytes.TrimSpace(answer))
	}
	return dialect.Decode(d, &dialect.Wire{Method: "POST", URL: url, Request: []byte(body), Response: answer,
		ResponseHeader: resp.Header, Status: resp.StatusCode}), nil
}

// requests prints what is stored of every request.
func requests(path string) error {
	db, err := store.OpenReader(path)
	if err != nil {
		return err
	}
	defer db.Close()
	ctx := context.Background()
	for e, err := range db.Exchanges(ctx, transcript.Filter{Oldest: true}) {
		if err != nil {
			return err
		}
		body, err := db.Body(ctx, e.Request.Body)
		if err != nil {
			return err
		}
		text, err := io.ReadAll(body)
		if err != nil {
			return err
		}
		fmt.Printf("x%d request %d bytes, left out: %s\n%s\n", e.N, e.Request.Bytes, e.Request.Omitted, text)
	}
	return nil
}

// pairs prints the calls of every exchange with how many results they have.
func pairs(path string) error {
	db, err := store.OpenReader(path)
	if err != nil {
		return err
	}
	defer db.Close()
	ctx := context.Background()
	for e, err := range db.Exchanges(ctx, transcript.Filter{Oldest: true}) {
		if err != nil {
			return err
		}
		fmt.Printf("x%d %s %s %d\n", e.N, e.Dialect, e.Outcome, e.Status)
		calls, err := db.Calls(ctx, []string{e.ID})
		if err != nil {
			return err
		}
		for _, c := range calls {
			fmt.Printf("  %s %d\n", c.Name, len(c.Results))
		}
	}
	return nil
}
