package link

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

// Bounds on the texts by which the agent that a call started is found.
const (
	shortestPrompt = 8
	longestPrompt  = 1 << 20
	mostPrompts    = 8
)

// promptKey is the hash of a text in a call.
func promptKey(text string) (transcript.Key, bool) {
	text = strings.TrimSpace(text)
	if len(text) < shortestPrompt || len(text) > longestPrompt {
		return transcript.Key{}, false
	}
	return HintOf("prompt", text), true
}

// prompter finds the answer with a call whose prompt is this agent's first message.
// Unless the client says so too, the call must still be open.
func (k *linker) prompter(parent *transcript.Exchange) (*transcript.Exchange, error) {
	if k.d.Exchange.Dialect == transcript.Unknown {
		return nil, nil
	}
	if parent != nil {
		inherited, err := k.inherits(parent)
		if err != nil || !inherited {
			return nil, err
		}
	}
	for _, key := range k.firstTexts() {
		places, err := k.tx.ByHint(key, candidates)
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

// inherits reports whether the history of the exchange is that of the agent that
// started its own.
func (k *linker) inherits(parent *transcript.Exchange) (bool, error) {
	if !k.id.IsSub() {
		return false, nil
	}
	same, err := k.mayJoin(parent)
	return !same, err
}

// called reports whether a call can have started this agent: it is of the same run
// if that is known, or else still open.
func (k *linker) called(caller *transcript.Exchange, at string) (bool, error) {
	if !k.mayStart(caller) {
		return false, nil
	}
	if k.run != "" {
		return caller.Link.Run == k.run, nil
	}
	run, _, err := k.named()
	if err != nil || run != "" {
		return run == caller.Link.Run, err
	}
	if own, err := k.ownRun(); err != nil || own != "" && own != caller.Link.Run {
		return false, err
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

// mayStart reports whether an exchange began before this one, or came before it if
// that is unknown. Agents pass on literally what they were told: by its text alone
// their own call might have started them.
func (k *linker) mayStart(caller *transcript.Exchange) bool {
	e := k.d.Exchange
	if a, b := caller.StartedAt, e.StartedAt; !a.IsZero() && !b.IsZero() && !a.Equal(b) {
		return a.Before(b)
	}
	return caller.ID != e.ID && (e.N == 0 || caller.N < e.N)
}

// answered reports whether a call had a result before this exchange came.
func (k *linker) answered(call *transcript.CallRow) (bool, error) {
	for _, r := range call.Results {
		e, err := k.tx.Exchange(k.ctx, r.Exchange)
		if errors.Is(err, transcript.ErrNotFound) { // removed since
			continue
		}
		if err != nil {
			return false, err
		}
		if n := k.d.Exchange.N; n == 0 || e.N < n {
			return true, nil
		}
	}
	return false, nil
}

// ownRun returns the run that the client's names mean, whatever came first; "" if
// there is none.
func (k *linker) ownRun() (string, error) {
	for _, name := range k.names() {
		run, err := k.tx.RunByKey(name)
		if err == nil {
			return run.ID, nil
		}
		if !errors.Is(err, transcript.ErrNotFound) {
			return "", err
		}
	}
	return "", nil
}

// firstTexts returns the texts of the user's messages before the first answer; of
// an agent that may have inherited a history, those after its last answer.
func (k *linker) firstTexts() []transcript.Key {
	var keys []transcript.Key
	input := k.d.Turn.Input
	if k.id.IsSub() {
		input = input[behindAnswers(input):]
	}
	for i := range input {
		it := &input[i]
		if answers(it) {
			break
		}
		key, ok := promptKey(it.Text)
		if it.Kind == transcript.Other {
			key, ok = taskKey(it.Raw)
		}
		if ok && (it.Kind == transcript.MessageItem || it.Kind == transcript.Other) && len(keys) < mostPrompts {
			keys = append(keys, key)
		}
	}
	return keys
}

// behindAnswers returns where the part of a history begins that has no answers.
func behindAnswers(input []transcript.Item) int {
	n := len(input)
	for n > 0 && !answers(&input[n-1]) {
		n--
	}
	return n
}

// answers reports whether an item is, or follows, model output.
func answers(it *transcript.Item) bool {
	return it.Kind == transcript.ToolCall || it.Kind == transcript.ToolResult || it.Role == "assistant"
}

// taskArgument is the argument in which a call names the task of the agent that it
// starts.
const taskArgument = "task_name"

// taskKey is the hash of a task's name. Codex passes the prompt on encrypted, in an
// item that only says from which agent to which it goes.
func taskKey(item json.RawMessage) (transcript.Key, bool) {
	var m struct{ Type, Author, Recipient string }
	if json.Unmarshal(item, &m) != nil || m.Type != "agent_message" {
		return transcript.Key{}, false
	}
	task, ok := strings.CutPrefix(m.Recipient, m.Author+"/")
	return HintOf("task", task), ok && task != ""
}
