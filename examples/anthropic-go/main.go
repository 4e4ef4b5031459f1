// Command anthropic-go records an agent that uses the official Anthropic SDK, shows the
// run, and asks again with another tool result.
//
//	cd examples/anthropic-go && go run .
//
// It needs no key and no network: a scripted model stands in for the provider. With
// the real one, leave out WithBaseURL and give a key.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/retake-debugger/retake"
	"github.com/retake-debugger/retake/examples/scripted"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer) error {
	model := httptest.NewServer(script())
	defer model.Close()
	dir, err := os.MkdirTemp("", "anthropic-go-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	db, err := retake.Open(ctx, filepath.Join(dir, "agent.db"), retake.Options{Key: func(string) string { return "none" }})
	if err != nil {
		return err
	}
	defer db.Close()

	// These two lines are all that an agent needs.
	client := anthropic.NewClient(option.WithAPIKey("none"), option.WithBaseURL(model.URL),
		option.WithHTTPClient(&http.Client{Transport: db.Transport(nil)}))
	if err := agent(ctx, client); err != nil {
		return err
	}
	if err := db.Flush(ctx); err != nil {
		return err
	}
	return show(ctx, db, out)
}

// agent asks about the weather and runs the tool until the model answers.
func agent(ctx context.Context, client anthropic.Client) error {
	p := anthropic.MessageNewParams{
		Model:     "claude-sonnet-4-5",
		MaxTokens: 1000,
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("What should I wear in Oslo?"))},
		Tools: []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
			Name:        "get_weather",
			InputSchema: anthropic.ToolInputSchemaParam{Properties: map[string]any{"city": map[string]any{"type": "string"}}},
		}}},
	}
	for range 10 {
		stream := client.Messages.NewStreaming(ctx, p)
		message := anthropic.Message{}
		for stream.Next() {
			if err := message.Accumulate(stream.Current()); err != nil {
				return err
			}
		}
		if err := stream.Err(); err != nil {
			return err
		}
		var results []anthropic.ContentBlockParamUnion
		for _, block := range message.Content {
			if block.Type == "tool_use" {
				results = append(results, anthropic.NewToolResultBlock(block.ID, "rain, 7 degrees", false))
			}
		}
		if results == nil {
			return nil
		}
		p.Messages = append(p.Messages, message.ToParam(), anthropic.NewUserMessage(results...))
	}
	return errors.New("the model still calls tools")
}

// show prints what was recorded, then what the model says to another tool result.
func show(ctx context.Context, db *retake.DB, out io.Writer) error {
	run, err := db.Run(ctx, "last")
	if err != nil {
		return err
	}
	for step, err := range run.Steps(ctx) {
		if err != nil {
			return err
		}
		for _, e := range step.Entries {
			fmt.Fprintln(out, step.Step.Ref, e.Item.Kind, e.Item.Name+e.Item.Text)
		}
	}
	if len(run.Pairs) != 1 || run.Pairs[0].State != transcript.Paired {
		return fmt.Errorf("pairs of the run: %v", run.Pairs)
	}
	take, err := db.Replay(ctx, run.Ref(), replay.Plan{Edits: []transcript.Edit{
		{Op: transcript.SetResult, CallID: run.Pairs[0].CallID, Text: "sunny, 25 degrees"},
	}})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s with sun instead: %s\n", take.Ref, take.FinalText)
	return err
}

// script is what the model does: it asks for the weather and answers by it.
func script() *scripted.Model {
	return &scripted.Model{Script: []scripted.Step{
		{Calls: []scripted.Call{{Name: "get_weather", Arguments: `{"city":"Oslo"}`}}},
		{Answer: func(results []string) string {
			if strings.Contains(strings.Join(results, " "), "rain") {
				return "A raincoat."
			}
			return "A T-shirt."
		}},
	}}
}
