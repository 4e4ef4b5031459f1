package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// block is a content block of the Messages API, as far as this agent needs it.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	Thinking  string          `json:"thinking,omitempty"`
	Signature string          `json:"signature,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   string          `json:"content,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
}

type message struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
}

// maxRounds ends the loop if a broken model does not.
const maxRounds = 8

// runAgent runs the usual tool loop: ask, run the tools that are called, send their
// results back, until the model calls none.
func runAgent(ctx context.Context, base string) error {
	history := []message{{"user", "What should I take with me to Oslo tomorrow, and when do I leave?"}}
	for range maxRounds {
		answer, err := ask(ctx, base, history)
		if err != nil {
			return err
		}
		history = append(history, message{"assistant", answer})
		var results []block
		for _, b := range answer {
			if b.Type == "text" {
				fmt.Println("agent:", b.Text)
			}
			if b.Type == "tool_use" {
				text, failed := runTool(b.Name)
				results = append(results, block{Type: "tool_result", ToolUseID: b.ID, Content: text, IsError: failed})
			}
		}
		if results == nil {
			return nil
		}
		history = append(history, message{"user", results})
	}
	return fmt.Errorf("the model called tools in each of %d rounds", maxRounds)
}

// runTool stands in for the tools of this agent; one of them always fails.
func runTool(name string) (text string, failed bool) {
	switch name {
	case "get_weather":
		return "Oslo tomorrow: 6 °C, rain from noon", false
	case "get_calendar":
		return "09:00 meeting at the harbour office", false
	}
	return "set_reminder: connect to 10.0.0.7:443: connection refused", true
}

func ask(ctx context.Context, base string, history []message) ([]block, error) {
	tool := func(name, description string) map[string]any {
		return map[string]any{"name": name, "description": description, "input_schema": map[string]any{"type": "object"}}
	}
	body, err := json.Marshal(map[string]any{
		"model": "scripted-1", "max_tokens": 1024, "stream": true,
		"system":   "You help with plans for the day. Use the tools; say so when one fails.",
		"messages": history,
		"tools":    []any{tool("get_weather", "Weather of a city"), tool("get_calendar", "Appointments of a day"), tool("set_reminder", "Set a reminder")},
	})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, "POST", base+"/v1/messages", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Api-Key", "demo-key")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("model answered %s", resp.Status)
	}
	return readStream(bufio.NewScanner(resp.Body))
}

// readStream puts the blocks of a streamed answer together.
func readStream(lines *bufio.Scanner) ([]block, error) {
	var blocks []block
	input := "" // arguments of the block so far: JSON only once it is whole
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type  string
			Block block `json:"content_block"`
			Delta struct {
				Text, Thinking, Signature string
				PartialJSON               string `json:"partial_json"`
			}
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return nil, err
		}
		switch e.Type {
		case "content_block_start":
			blocks, input = append(blocks, e.Block), ""
		case "content_block_delta":
			b := &blocks[len(blocks)-1]
			b.Text += e.Delta.Text
			b.Thinking += e.Delta.Thinking
			b.Signature += e.Delta.Signature
			input += e.Delta.PartialJSON
		case "content_block_stop":
			if b := &blocks[len(blocks)-1]; b.Type == "tool_use" && input != "" {
				b.Input = json.RawMessage(input)
			}
		}
	}
	return blocks, lines.Err()
}
