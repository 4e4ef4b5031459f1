// Command gin shows a gin server that records the calls it gets.
//
//	go run ./examples/gin
//
// The middleware goes around the engine: it sees every byte, also of a handler that
// streams.
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

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake"
	"github.com/retake-debugger/retake/examples/scripted"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer) error {
	dir, err := os.MkdirTemp("", "gin-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	db, err := retake.Open(ctx, filepath.Join(dir, "server.db"), retake.Options{})
	if err != nil {
		return err
	}
	defer db.Close()

	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	model := &scripted.Model{Script: []scripted.Step{
		{Answer: func([]string) string { return "Hello from gin." }},
	}}
	engine.POST("/v1/messages", gin.WrapH(model))
	server := httptest.NewServer(db.Middleware(engine))
	defer server.Close()

	const hello = `{"model":"local-1","max_tokens":100,"stream":true,"messages":[{"role":"user","content":"Hello?"}]}`
	resp, err := http.Post(server.URL+"/v1/messages", "application/json", strings.NewReader(hello))
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
	fmt.Fprintf(out, "%s %s %s: streamed %t, %q, answered %q\n", x.Ref(), x.Method, x.URL, x.Stream, x.Input[0].Text, x.Text)
	return nil
}
