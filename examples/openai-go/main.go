// Command openai-go records an agent that uses the official OpenAI SDK, shows the
// run, and asks again with another tool result.
//
//	cd examples/openai-go && go run .
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

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

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
	dir, err := os.MkdirTemp("", "openai-go-")
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
	client := openai.NewClient(option.WithAPIKey("none"), option.WithBaseURL(model.URL+"/v1"),
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
func agent(ctx context.Context, client openai.Client) error {
	p := openai.ChatCompletionNewParams{
		Model:    "gpt-5",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("What should I wear in Oslo?")},
		Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
			Name:       "get_weather",
			Parameters: openai.FunctionParameters{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}},
		})},
	}
	for range 10 {
		stream := client.Chat.Completions.NewStreaming(ctx, p)
		answer := openai.ChatCompletionAccumulator{}
		for stream.Next() {
			answer.AddChunk(stream.Current())
		}
		if err := stream.Err(); err != nil {
			return err
		}
		message := answer.Choices[0].Message
		if len(message.ToolCalls) == 0 {
			return nil
		}
		p.Messages = append(p.Messages, message.ToParam())
		for _, call := range message.ToolCalls {
			p.Messages = append(p.Messages, openai.ToolMessage("rain, 7 degrees", call.ID))
		}
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
