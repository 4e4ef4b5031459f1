// Command nethttp shows a net/http server that records the calls it gets.
//
//	go run ./examples/nethttp
//
// The server offers a model under /v1; here a scripted one. Middleware around the
// handler is all that recording needs.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/retake-debugger/retake"
	"github.com/retake-debugger/retake/examples/scripted"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer) error {
	dir, err := os.MkdirTemp("", "nethttp-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	db, err := retake.Open(ctx, filepath.Join(dir, "server.db"), retake.Options{})
	if err != nil {
		return err
	}
	defer db.Close()

	mux := http.NewServeMux()
	mux.Handle("/v1/", db.Middleware(&scripted.Model{Script: []scripted.Step{
		{Answer: func([]string) string { return "Hello from the server." }},
	}}))
	server := httptest.NewServer(mux)
	defer server.Close()

	const hello = `{"model":"local-1","messages":[{"role":"user","content":"Hello?"}]}`
	resp, err := http.Post(server.URL+"/v1/chat/completions", "application/json", strings.NewReader(hello))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}

	if err := db.Flush(ctx); err != nil {
		return err
	}
	x, err := db.Exchange(ctx, "x:last")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s %s %s: %q, answered %q\n", x.Ref(), x.Method, x.URL, x.Input[0].Text, x.Text)
	return nil
}
