package ingest

import (
	"errors"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

// Bounds on the texts by which an agent is found that a call started.
const (
	shortestPrompt = 8
	longestPrompt  = 1 << 20
	mostPrompts    = 8
)

// promptKey is the hash of a text that was passed on.
func promptKey(text string) (transcript.Key, bool) {
	text = strings.TrimSpace(text)
	if len(text) < shortestPrompt || len(text) > longestPrompt {
		return transcript.Key{}, false
	}
	return clueOf("prompt", text), true
}

// prompter finds the answer of which a call passed this agent's first message
// on. Without a word of the client the call must be open still.
func (k *linker) prompter(parent *transcript.Exchange) (*transcript.Exchange, error) {
	if parent != nil || k.d.exchange.Dialect == transcript.Unknown {
		return nil, nil
	}
	for _, key := range k.firstTexts() {
		places, err := k.tx.Clues(key, candidates)
		if err != nil {
			return nil, err
		}
		for i := range places {
			caller, err := k.tx.Exchange(k.ctx, places[i].Exchange)
			if err != nil {
				return nil, err
			}
			if ok, err := k.called(caller, places[i].At); err != nil {
				return nil, err
			} else if ok {
				k.call = &places[i]
				return caller, nil
			}
		}
	}
	return nil, nil
}

// called tells whether a call can have started this agent: it is of the same
// run if that is known, and else still open.
func (k *linker) called(caller *transcript.Exchange, at string) (bool, error) {
	if k.run != "" {
		return caller.Link.Run == k.run, nil
	}
	run, _, err := k.named()
	if err != nil || run != "" {
		return run == caller.Link.Run, err
	}
	calls, err := k.tx.Calls(k.ctx, []string{caller.ID})
	if err != nil {
		return false, err
	}
	i := slices.IndexFunc(calls, func(c transcript.CallRow) bool { return c.At == at })
	if i < 0 {
		return false, nil
	}
	answered, err := k.answered(&calls[i])
	return !answered, err
}

// answered tells whether a call had a result before this exchange came.
func (k *linker) answered(call *transcript.CallRow) (bool, error) {
	for _, r := range call.Results {
		e, err := k.tx.Exchange(k.ctx, r.Exchange)
		if errors.Is(err, transcript.ErrNotFound) { // removed since
			continue
		}
		if err != nil {
			return false, err
		}
		if n := k.d.exchange.N; n == 0 || e.N < n {
			return true, nil
		}
	}
	return false, nil
}

// firstTexts are the texts of the user's messages before anything was
// answered.
func (k *linker) firstTexts() []transcript.Key {
	var keys []transcript.Key
	for i := range k.d.turn.Input {
		it := &k.d.turn.Input[i]
		if it.Kind == transcript.ToolCall || it.Kind == transcript.ToolResult || it.Role == "assistant" {
			break
		}
		if it.Kind != transcript.MessageItem || len(keys) == mostPrompts {
			continue
		}
		if key, ok := promptKey(it.Text); ok {
			keys = append(keys, key)
		}
	}
	return keys
}
