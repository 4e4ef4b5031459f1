package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
)

// MCP answers the calls of the tools that an MCP server lists. Close it.
type MCP struct {
	Timeout time.Duration // of a call; 0: DefaultTimeout

	session *mcp.ClientSession
	tools   map[string]bool
}

// startWithin bounds how long a server may take to start and list its tools.
const startWithin = 30 * time.Second

// StartMCP starts a server that speaks MCP on its standard input and output, and
// asks for its tools.
func StartMCP(ctx context.Context, command string) (*MCP, error) {
	m, err := ConnectMCP(ctx, &mcp.CommandTransport{Command: exec.Command("sh", "-c", command)})
	if err != nil {
		return nil, fmt.Errorf("start MCP server %q: %w", command, err)
	}
	return m, nil
}

// ConnectMCP does so over any transport.
func ConnectMCP(ctx context.Context, t mcp.Transport) (*MCP, error) {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "retake", Version: "1"}, nil).Connect(ctx, t, nil)
	if err != nil {
		return nil, err
	}
	m := &MCP{session: session, tools: map[string]bool{}}
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, fmt.Errorf("list tools: %w", closing(err, session))
		}
		m.tools[tool.Name] = true
	}
	return m, nil
}

func closing(err error, session *mcp.ClientSession) error {
	_ = session.Close() // what went wrong before is what counts
	return err
}

// Close ends the server.
func (m *MCP) Close() error { return m.session.Close() }

// tool finds the server's name of a tool. Agents put the server's own name before it:
// mcp__files__read of Claude Code is read.
func (m *MCP) tool(name string) (string, bool) {
	if m.tools[name] {
		return name, true
	}
	if parts := strings.SplitN(name, "__", 3); len(parts) == 3 && parts[0] == "mcp" && m.tools[parts[2]] {
		return parts[2], true
	}
	return "", false
}

// called finds the tool that is called, by either of its names.
func (m *MCP) called(c *replay.Call) (string, bool) {
	if name, ok := m.tool(c.Name); ok {
		return name, true
	}
	return m.tool(c.Original)
}

// Covers implements replay.Source.
func (m *MCP) Covers(c *replay.Call) bool {
	_, ok := m.called(c)
	return ok
}

// Answer implements replay.Source. Arguments that are no JSON object, and a server
// that refuses the call, are error results.
func (m *MCP) Answer(ctx context.Context, c *replay.Call) (*replay.Result, error) {
	name, ok := m.called(c)
	if !ok {
		return nil, nil
	}
	run, cancel := context.WithTimeout(ctx, timeout(m.Timeout))
	defer cancel()
	failed := func(what string) *replay.Result {
		return &replay.Result{Text: what, IsError: true, Source: transcript.FromMCP}
	}
	arguments := json.RawMessage("{}")
	if c.Arguments != nil {
		arguments = c.Arguments
	}
	if !strings.HasPrefix(strings.TrimSpace(string(arguments)), "{") || c.Arguments == nil && c.ArgumentsRaw != "" {
		return failed("the arguments are no JSON object"), nil
	}
	got, err := m.session.CallTool(run, &mcp.CallToolParams{Name: name, Arguments: arguments})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return failed(err.Error()), nil
	}
	text, err := textOf(got)
	return &replay.Result{Text: text, IsError: got.IsError, Source: transcript.FromMCP}, err
}

// textOf returns what a result says. What is no text is told as the JSON that it is.
func textOf(r *mcp.CallToolResult) (string, error) {
	var out bounded
	for i, c := range r.Content {
		if i > 0 {
			out.kept.WriteByte('\n')
		}
		text, ok := c.(*mcp.TextContent)
		if ok {
			_, _ = out.Write([]byte(text.Text)) // it never fails
			continue
		}
		b, err := json.Marshal(c)
		if err != nil {
			return "", fmt.Errorf("read MCP result: %w", err)
		}
		_, _ = out.Write(b)
	}
	if len(r.Content) == 0 && r.StructuredContent != nil {
		b, err := json.Marshal(r.StructuredContent)
		if err != nil {
			return "", fmt.Errorf("read MCP result: %w", err)
		}
		_, _ = out.Write(b)
	}
	return out.String(), nil
}
