package recorder_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"

	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/recorder/spool"
)

// modelServer stands in for a model API.
func modelServer() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"choices":[]}`)
	}))
}

// exampleSpool opens a spool in a temporary folder.
func exampleSpool() (*spool.Spool, func()) {
	dir, err := os.MkdirTemp("", "spool")
	if err != nil {
		panic(err)
	}
	spool, err := spool.Open(dir, spool.Options{})
	if err != nil {
		panic(err)
	}
	return spool, func() {
		spool.Close()
		os.RemoveAll(dir)
	}
}

// print takes the next record and releases it, as ingest does once it is stored.
func print(spool *spool.Spool) {
	r, err := spool.Next(context.Background())
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Method, r.Status, r.Outcome, r.Request.Size(), r.Response.Size(), r.RequestHeader["Authorization"] != nil)
	r.Release()
}

// A proxy in front of a model API: clients set their base URL to it.
func ExampleNewProxy() {
	model := modelServer()
	defer model.Close()
	spool, done := exampleSpool()
	defer done()

	upstream, _ := url.Parse(model.URL)
	proxy, err := recorder.NewProxy(recorder.Options{Spool: spool, Upstreams: []recorder.Upstream{{URL: upstream}}})
	if err != nil {
		panic(err)
	}
	server := httptest.NewServer(proxy)
	defer server.Close()

	resp, err := http.Post(server.URL+"/v1/chat/completions", "application/json", strings.NewReader(`{}`))
	if err != nil {
		panic(err)
	}
	io.Copy(os.Stdout, resp.Body)
	fmt.Println()
	print(spool)
	// Output:
	// {"choices":[]}
	// POST 200 ok 2 14 false
}

// A client that records itself, without a proxy.
func ExampleNewTransport() {
	model := modelServer()
	defer model.Close()
	spool, done := exampleSpool()
	defer done()

	client := &http.Client{Transport: recorder.NewTransport(nil, recorder.Options{Spool: spool})}
	req, _ := http.NewRequest("POST", model.URL+"/v1/responses", strings.NewReader(`{}`))
	req.Header.Set("Authorization", "Bearer sk-secret")
	resp, err := client.Do(req)
	if err != nil {
		panic(err)
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	print(spool)
	// Output: POST 200 ok 2 14 true
}

// A server that records what it serves. A gin engine is a handler, too.
func ExampleMiddleware() {
	spool, done := exampleSpool()
	defer done()

	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, `{"choices":[]}`)
	})
	server := httptest.NewServer(recorder.Middleware(handler, recorder.Options{Spool: spool}))
	defer server.Close()

	resp, err := http.Post(server.URL+"/v1/chat/completions", "application/json", strings.NewReader(`{}`))
	if err != nil {
		panic(err)
	}
	resp.Body.Close()
	print(spool)
	// Output: POST 200 ok 2 14 false
}
