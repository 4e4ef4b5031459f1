package formats

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

// FewShot says how a conversation becomes an example before a real question.
type FewShot struct {
	As     string // "json" or "", "python", "markdown"
	API    transcript.Dialect
	Steps  []int // numbers of the answers to keep, from 1; nil: all
	System bool  // keep system prompts
	Words  bool  // write calls and results as text, for use without tools
}

// Write writes a messages array, in the form of the Messages API if API says so, else
// of Chat Completions. It contains no tool definitions and no calls without a result.
// ErrUnfinished if the answer failed or was cut.
func (f FewShot) Write(w io.Writer, c *Conversation, lost *Losses) error {
	if why := c.Unfinished(); why != "" {
		return fmt.Errorf("%w: %s", ErrUnfinished, why)
	}
	list, err := f.chosen(answered(c.beats(lost), false, lost))
	if err != nil {
		return err
	}
	if f.Words {
		list = inWords(list, lost)
	}
	if f.As == "markdown" {
		return exampleMarkdown(w, list, lost)
	}
	v := f.value(list, lost)
	var text []byte
	switch f.As {
	case "", "json":
		text, err = indented(v)
	case "python":
		text, err = pythonLiteral(v)
		text = append([]byte("messages = "), text...)
	default:
		return fmt.Errorf("write few-shot: no form %q", f.As)
	}
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// FewShotAPIs returns the names of the APIs in whose messages examples are written; "" is that
// of the exchange.
func FewShotAPIs() []string {
	return []string{"", string(transcript.Chat), string(transcript.Messages)}
}

func (f FewShot) value(list []*beat, lost *Losses) any {
	if f.API != transcript.Messages {
		out := chatMessages(list, lost)
		if out == nil {
			out = []*message{}
		}
		return out
	}
	a := blockWriter{lost: lost}
	system, messages := a.messages(list)
	if !f.System {
		if messages == nil {
			messages = []*blockMessage{}
		}
		return messages
	}
	return struct {
		System   string          `json:"system"`
		Messages []*blockMessage `json:"messages"`
	}{system, messages}
}

var errNoStep = errors.New("the conversation has no such step")

// chosen drops system prompts, and the answers that are not wanted with the user
// messages before them. The first user message stays.
func (f FewShot) chosen(list []*beat) ([]*beat, error) {
	var out, said []*beat
	answer, first := 0, true
	for _, b := range list {
		switch b.role {
		case "system":
			if f.System {
				out = append(out, b)
			}
		case "user":
			if first {
				out = append(out, b)
			} else {
				said = append(said, b)
			}
			first = false
		default:
			if answer++; f.Steps == nil || slices.Contains(f.Steps, answer) {
				out = append(append(out, said...), b)
			}
			said = nil
		}
	}
	for _, n := range f.Steps {
		if n < 1 || n > answer {
			return nil, fmt.Errorf("step %d of %d: %w", n, answer, errNoStep)
		}
	}
	if f.Steps == nil {
		out = append(out, said...)
	}
	return out, nil
}

// inWords turns calls and results into text.
func inWords(list []*beat, lost *Losses) []*beat {
	var out []*beat
	for _, b := range list {
		if b.role != "assistant" || len(b.results) == 0 {
			out = append(out, b)
			continue
		}
		said, got := &beat{role: "assistant"}, &beat{role: "user"}
		call := 0
		for i, it := range b.items {
			if !isCall(it) {
				said.put(it, b.message[i])
				continue
			}
			said.put(text("assistant", fmt.Sprintf("I call %s with %s", it.Name, arguments(it))), fmt.Sprint("call", call))
			if r := b.results[call]; r != nil {
				leaveParts(r, lost)
				verb := "gave"
				if r.IsError {
					verb = "failed with"
				}
				got.put(text("user", fmt.Sprintf("%s %s:\n%s", it.Name, verb, r.Text)), fmt.Sprint("result", call))
			}
			call++
		}
		out = append(out, said)
		if len(got.items) > 0 {
			merged := text("user", got.text())
			got = &beat{role: "user"}
			got.put(merged, "")
			out = append(out, got)
		}
	}
	return merge(out)
}

func text(role, s string) *transcript.Item {
	return &transcript.Item{Kind: transcript.MessageItem, Role: role, Text: s}
}

// merge joins neighbours of one role.
func merge(list []*beat) []*beat {
	var out []*beat
	for _, b := range list {
		if n := len(out); n > 0 && out[n-1].role == b.role && len(out[n-1].results) == 0 && len(b.results) == 0 {
			for i, it := range b.items {
				out[n-1].put(it, b.message[i])
			}
			continue
		}
		out = append(out, b)
	}
	return out
}

// exampleMarkdown writes an example as text to be pasted into a prompt.
func exampleMarkdown(w io.Writer, list []*beat, lost *Losses) error {
	var out strings.Builder
	for _, b := range list {
		for _, it := range b.items {
			if isCall(it) || !leaveKind(it, lost) {
				leaveParts(it, lost)
			}
		}
		if b.text() == "" && len(b.calls()) == 0 {
			continue
		}
		fmt.Fprintf(&out, "### %s\n\n", map[string]string{"system": "System", "user": "User", "assistant": "Assistant"}[b.role])
		if t := b.text(); t != "" {
			out.WriteString(t + "\n\n")
		}
		calls := b.calls()
		for _, call := range calls {
			fmt.Fprintf(&out, "Call `%s`:\n\n%s\n", call.Name, fenced("json", arguments(call)))
		}
		for i, r := range b.results {
			if r == nil {
				continue
			}
			leaveParts(r, lost)
			fmt.Fprintf(&out, "Result of `%s`%s:\n\n%s\n", calls[i].Name, map[bool]string{true: " (an error)"}[r.IsError], fenced("", r.Text))
		}
	}
	_, err := io.WriteString(w, strings.TrimRight(out.String(), "\n")+"\n")
	return err
}
