package main

import (
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/retake-debugger/retake/examples/scripted"
	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"inspect": main,
		"seed":    func() { exit("seed", seed(os.Args[1], os.Args[2])) },
		"damage":  func() { exit("damage", damage(os.Args[1])) },
		"abandon": func() { exit("abandon", abandon(os.Args[1], os.Args[2])) },
		"index":   func() { exit("index", index(os.Args[1])) },
		"story":   func() { exit("story", story(os.Args[1], os.Args[2], os.Args[3], os.Args[4:])) },
	})
}

func exit(name string, err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}

// TestScripts runs the commands as a user would in a pipe. seed DB DIR fills a
// database with the exchanges of a folder; index DB indexes it for search; $MODEL
// is a scripted model, $CLERK one that escalates where it is told to; story DIR
// DIALECT N TEXT@ITEM… writes an exchange with it.
func TestScripts(t *testing.T) {
	if found, err := filepath.Glob("testdata/*.txtar"); err != nil || len(found) == 0 {
		t.Fatalf("no scripts found (%v)", err)
	}
	model := httptest.NewServer(&scripted.Model{Script: []scripted.Step{
		{Calls: []scripted.Call{{Name: "weather", Arguments: `{"city":"Oslo"}`}}},
		{Answer: func(results []string) string { return "The tools said: " + strings.Join(results, " | ") }},
	}})
	t.Cleanup(model.Close)
	clerk := newClerk(t)
	testscript.Run(t, testscript.Params{
		Dir:           "testdata",
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			env.Setenv("MODEL", model.URL)
			env.Setenv("CLERK", clerk)
			env.Setenv("RETAKE_DB", filepath.Join(env.WorkDir, "t.db"))
			env.Setenv("TZ", "UTC")
			return nil
		},
	})
}

func index(db string) error {
	s, err := store.Open(db, store.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	_, err = ingest.Index(context.Background(), s)
	return err
}

// seed stores the exchanges of a folder: NAME.request.json with
// NAME.response.json or NAME.response.sse, in the order of their names, a minute
// apart. NAME.status is the status if it is not 200; NAME.path holds the path; without it the dialect's usual one is taken
// from the folder's file "path".
func seed(db, dir string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	requests, err := filepath.Glob(filepath.Join(dir, "*.request.json"))
	if err != nil || len(requests) == 0 {
		return fmt.Errorf("no requests in %s (%v)", dir, err)
	}
	s, err := store.Open(db, store.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	var captures []*transcript.Capture
	for i, request := range requests {
		c, err := readCapture(i+1, strings.TrimSuffix(request, ".request.json"))
		if err != nil {
			return err
		}
		captures = append(captures, c)
	}
	_, err = ingest.Commit(ctx, s, captures)
	return err
}

func readCapture(n int, base string) (*transcript.Capture, error) {
	request, err := os.ReadFile(base + ".request.json")
	if err != nil {
		return nil, err
	}
	contentType := "application/json"
	response, err := os.ReadFile(base + ".response.json")
	if err != nil {
		contentType = "text/event-stream"
		if response, err = os.ReadFile(base + ".response.sse"); err != nil {
			return nil, err
		}
	}
	path, err := os.ReadFile(base + ".path")
	if err != nil {
		if path, err = os.ReadFile(filepath.Join(filepath.Dir(base), "path")); err != nil {
			return nil, err
		}
	}
	status := 200
	if text, err := os.ReadFile(base + ".status"); err == nil {
		if status, err = strconv.Atoi(strings.TrimSpace(string(text))); err != nil {
			return nil, err
		}
	}
	at := time.Date(2026, 3, 1, 12, n, 0, 0, time.UTC)
	host := os.Getenv("SEED_HOST")
	if host == "" {
		host = "https://api.example.com"
	}
	return &transcript.Capture{
		ID: fmt.Sprintf("0190a000-0000-7000-8000-%012d", n), StartedAt: at, EndedAt: at.Add(1500 * time.Millisecond),
		Method: "POST", URL: host + strings.TrimSpace(string(path)), Status: status, Outcome: transcript.OK,
		RequestHeader:  map[string][]string{"Content-Type": {"application/json"}, "Authorization": {"Bearer [redacted] fp:00000000"}},
		ResponseHeader: map[string][]string{"Content-Type": {contentType}},
		Request:        fileBody(request), Response: fileBody(response), FirstByte: 120 * time.Millisecond,
		Chunks: []transcript.Chunk{{Offset: 0, At: 130 * time.Millisecond}},
	}, nil
}

type fileBody string

func (b fileBody) Size() int64 { return int64(len(b)) }
func (b fileBody) Open() (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader(string(b))), nil
}
