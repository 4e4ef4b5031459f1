package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/replay/tool"
)

func call(name, arguments string) *replay.Call {
	c := &replay.Call{CallID: "call_1", Name: name, ArgumentsRaw: arguments}
	if json.Valid([]byte(arguments)) {
		c.Arguments = json.RawMessage(arguments)
	}
	return c
}

func TestExec(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell")
	}
	tests := []struct {
		name, command, arguments string
		text                     string
		isError                  bool
	}{
		{"arguments on standard input, the result from standard output", "cat; echo ignored >&2", `{"a":1}`, `{"a":1}`, false},
		{"arguments that are no JSON", "cat", "text(1)", "text(1)", false},
		{"an exit status is an error", "echo so far; echo why >&2; exit 3", "{}", "so far\nwhy\n", true},
		{"one that says nothing", "exit 3", "{}", "exit status 3", true},
		{"it knows what it plays", `printf '%s %s' "$RETAKE_TOOL" "$RETAKE_CALL_ID"`, "{}", "f call_1", false},
		{"input that nobody reads", "echo ok", strings.Repeat(" ", 1<<20), "ok\n", false},
	}
	for _, tt := range tests {
		r, err := (&tool.Exec{Name: "f", Command: tt.command}).Answer(t.Context(), call("f", tt.arguments))
		if err != nil || r.Text != tt.text || r.IsError != tt.isError || r.Source != "exec" {
			t.Errorf("%s: %+v, %v", tt.name, r, err)
		}
	}
	if (&tool.Exec{Name: "f"}).Covers(call("g", "{}")) {
		t.Error("it covers a tool that was not named")
	}
}

func TestExec_IsBounded(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell")
	}
	r, err := (&tool.Exec{Name: "f", Command: "head -c 2000000 /dev/zero | tr '\\0' x"}).Answer(t.Context(), call("f", "{}"))
	if err != nil || len(r.Text) > tool.MostOutput+100 || !strings.HasSuffix(r.Text, "[951424 more bytes are left out]") {
		t.Errorf("%d bytes, %v", len(r.Text), err)
	}
	// What it started must end too: it holds the pipe.
	r, err = (&tool.Exec{Name: "f", Command: "echo begun; sleep 600 & sleep 600", Timeout: 200 * time.Millisecond}).Answer(t.Context(), call("f", "{}"))
	if err != nil || !r.IsError || r.Text != "begun\n\nf: stopped after 200ms" {
		t.Errorf("%+v, %v", r, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&tool.Exec{Name: "f", Command: "sleep 600"}).Answer(ctx, call("f", "{}")); !errors.Is(err, context.Canceled) {
		t.Errorf("a take that was stopped: %v", err)
	}
}

func TestHTTP(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Header.Get("X-Retake-Tool") == "bad" {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		io.WriteString(w, r.Method+" "+string(body))
	}))
	defer server.Close()
	r, err := (&tool.HTTP{Name: "f", URL: server.URL}).Answer(t.Context(), call("f", `{"a":1}`))
	if err != nil || r.Text != `POST {"a":1}` || r.IsError || r.Source != "http" {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = (&tool.HTTP{Name: "bad", URL: server.URL}).Answer(t.Context(), call("bad", "{}"))
	if err != nil || r.Text != "418 I'm a teapot" || !r.IsError {
		t.Errorf("%+v, %v", r, err)
	}
	server.Close()
	if r, err = (&tool.HTTP{Name: "f", URL: server.URL}).Answer(t.Context(), call("f", "{}")); err != nil || !r.IsError {
		t.Errorf("nobody there: %+v, %v", r, err)
	}
}

func TestMCP(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "files", Version: "1"}, nil)
	type in struct {
		Path string `json:"path"`
	}
	mcp.AddTool(server, &mcp.Tool{Name: "read", Description: "reads"}, func(_ context.Context, _ *mcp.CallToolRequest, i in) (*mcp.CallToolResult, any, error) {
		if i.Path == "" {
			return nil, nil, errors.New("which one?")
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "one"}, &mcp.TextContent{Text: i.Path}}}, nil, nil
	})
	here, there := mcp.NewInMemoryTransports()
	session, err := server.Connect(t.Context(), there, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	m, err := tool.ConnectMCP(t.Context(), here)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if m.Covers(call("write", "{}")) || !m.Covers(call("read", "{}")) || !m.Covers(call("mcp__files__read", "{}")) {
		t.Error("it covers other tools than the server lists")
	}
	for name, want := range map[string]struct {
		arguments, text string
		isError         bool
	}{
		"a result":            {`{"path":"a"}`, "one\na", false},
		"an error":            {`{"path":""}`, "which one?", true},
		"arguments of no use": {`nonsense`, "the arguments are no JSON object", true},
	} {
		r, err := m.Answer(t.Context(), call("mcp__files__read", want.arguments))
		if err != nil || r.Text != want.text || r.IsError != want.isError || r.Source != "mcp" {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

func TestStartMCP_ThatIsNone(t *testing.T) {
	if _, err := tool.StartMCP(t.Context(), "exit 1"); err == nil {
		t.Error("a command that ends is no server")
	}
}
