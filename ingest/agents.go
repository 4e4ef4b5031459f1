package ingest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/retake-debugger/retake/transcript"
)

// retryWithin is how long after a failed first request the same request is
// taken for another attempt at it. Later steps need no such bound, since their
// history holds what a model has said.
const retryWithin = 15 * time.Minute

// join gives the exchange its run, its agent and its step.
func (k *linker) join(parent *transcript.Exchange) error {
	l := &k.d.exchange.Link
	failed, err := k.failedBefore(parent)
	if err != nil {
		return err
	}
	if failed != nil {
		l.Run, l.Agent, l.Step, l.Attempt = failed.Link.Run, failed.Link.Agent, failed.Link.Step, failed.Link.Attempt+1
		if parent == nil {
			l.By, l.Evidence = "attempt", fmt.Sprintf("the same input as x%d, which failed", failed.N)
		}
		return nil
	}
	caller, err := k.prompter(parent)
	if err != nil {
		return err
	}
	if l.Run, err = k.runOf(parent, caller); err != nil {
		return err
	}
	for _, key := range k.names() {
		if err := k.tx.BindRun(key, l.Run); err != nil {
			return err
		}
	}
	return k.setAgent(parent, caller)
}

// names are what the client calls the run, most telling first.
func (k *linker) names() []string {
	return slices.DeleteFunc([]string{k.id.Session, k.id.Agent, k.id.Parent}, func(s string) bool { return s == "" })
}

// failedBefore finds an exchange that asked the same and failed: this one is
// another attempt at its step. After a success the same request is a step of
// its own.
func (k *linker) failedBefore(parent *transcript.Exchange) (*transcript.Exchange, error) {
	l := &k.d.exchange.Link
	if l.InNode.IsZero() {
		return nil, nil
	}
	same, err := k.tx.ByInNode(l.InNode, candidates)
	if err != nil {
		return nil, err
	}
	for _, e := range same {
		switch {
		case e.Link.Side || e.Link.Parent != l.Parent:
			continue
		case k.run != "" && e.Link.Run != k.run:
			continue
		case parent == nil && k.d.exchange.StartedAt.Sub(e.StartedAt).Abs() > retryWithin:
			continue
		}
		if ok, err := k.mayJoin(e); err != nil {
			return nil, err
		} else if !ok {
			continue
		}
		if e.Outcome == transcript.OK || e.Link.Agent == "" {
			return nil, nil
		}
		return e, nil
	}
	return nil, nil
}

// mayJoin tells whether the client's own words allow that the exchange belongs
// to e's agent.
func (k *linker) mayJoin(e *transcript.Exchange) (bool, error) {
	if k.id == (transcript.Identity{}) || e.Link.Agent == "" {
		return true, nil
	}
	a, err := k.tx.Agent(k.ctx, e.Link.Agent)
	if errors.Is(err, transcript.ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return a.Key == k.id.Agent, nil
}

// runOf is the run of the label, else of the parent, else what the client's own
// names mean, else that of the call that started this agent, else a new one.
func (k *linker) runOf(parent *transcript.Exchange, caller *transcript.Exchange) (string, error) {
	l := &k.d.exchange.Link
	switch {
	case k.run != "":
		if parent == nil {
			l.By = "label"
		}
		return k.run, nil
	case parent != nil:
		return parent.Link.Run, nil
	}
	run, name, err := k.named()
	if err != nil {
		return "", err
	}
	if run != "" {
		l.By, l.Evidence = "session", name
		return run, nil
	}
	if caller != nil {
		l.By, l.Evidence = "prompt", fmt.Sprintf("its first message is what a call of x%d passed on", caller.N)
		return caller.Link.Run, nil
	}
	begun, err := k.tx.NewRun(k.d.exchange.StartedAt)
	if err != nil {
		return "", err
	}
	return begun.ID, nil
}

// named gives the run that one of the client's names means, "" if none does. A
// run that nothing was in before is none: it is this exchange that begins it.
func (k *linker) named() (run, name string, err error) {
	for _, name := range k.names() {
		run, err := k.tx.RunByKey(name)
		if errors.Is(err, transcript.ErrNotFound) {
			continue
		}
		if err != nil {
			return "", "", err
		}
		for _, err := range k.earlier(run.ID, 1) {
			if err != nil {
				return "", "", err
			}
			return run.ID, name, nil
		}
	}
	return "", "", nil
}

// earlier lists what was in a run before this exchange, newest first. A run
// without an id is one that is still to be made.
func (k *linker) earlier(run string, limit int) iter.Seq2[*transcript.Exchange, error] {
	if run == "" {
		return func(func(*transcript.Exchange, error) bool) {}
	}
	return k.tx.Exchanges(k.ctx, transcript.Filter{Run: run, Before: k.d.exchange.N, Limit: limit})
}

// setAgent finds the agent that made the exchange, or makes it.
func (k *linker) setAgent(parent, caller *transcript.Exchange) error {
	l := &k.d.exchange.Link
	if k.d.exchange.Dialect == transcript.Unknown {
		l.Side = true
		return nil
	}
	if k.id.Agent == "" && parent != nil {
		return k.continues(parent.Link.Agent, parent)
	}
	if k.id.Agent != "" {
		a, err := k.tx.AgentByKey(l.Run, k.id.Agent)
		if err == nil {
			return k.known(a, parent)
		}
		if !errors.Is(err, transcript.ErrNotFound) {
			return err
		}
	}
	return k.starts(caller)
}

// continues goes on with the agent of the parent. A side call that is continued
// after all becomes an agent's first step.
func (k *linker) continues(agent string, parent *transcript.Exchange) error {
	if agent == "" {
		return k.newAgent(transcript.Agent{Main: true, Evidence: "its history begins with a side call"})
	}
	l := &k.d.exchange.Link
	l.Agent, l.Step, l.Attempt = agent, parent.Link.Step+1, 1
	return nil
}

// known joins an agent that the client names.
func (k *linker) known(a *transcript.Agent, parent *transcript.Exchange) error {
	l := &k.d.exchange.Link
	if parent != nil && parent.Link.Agent == a.ID {
		return k.continues(a.ID, parent)
	}
	side, err := k.beside()
	if err != nil || side {
		return err
	}
	last, err := k.lastStep(a.ID)
	l.Agent, l.Step, l.Attempt = a.ID, last+1, 1
	return err
}

// starts begins an agent: a sub-agent if the client says so or a call passed
// its first message on, else a main one.
func (k *linker) starts(caller *transcript.Exchange) error {
	l := &k.d.exchange.Link
	a := transcript.Agent{Key: k.id.Agent, Main: true, Evidence: "the first of its run"}
	switch {
	case k.id.IsSub():
		a.Main, a.Evidence = false, "header"
		a.ParentCall = k.call
	case caller != nil:
		a.Main, a.Evidence, a.ParentCall = false, "prompt_match", k.call
	default:
		side, err := k.beside()
		if err != nil || side {
			return err
		}
		if k.id != (transcript.Identity{}) && k.id.Agent == "" {
			main, err := k.mainAgent(l.Run)
			if err != nil {
				return err
			}
			if main != nil { // the same session with another history: cleared or compacted
				return k.known(main, nil)
			}
		}
	}
	return k.newAgent(a)
}

func (k *linker) newAgent(a transcript.Agent) error {
	l := &k.d.exchange.Link
	a.Run = l.Run
	err := k.tx.PutAgent(&a)
	l.Agent, l.Step, l.Attempt = a.ID, 1, 1
	return err
}

func (k *linker) mainAgent(run string) (*transcript.Agent, error) {
	agents, err := k.tx.Agents(k.ctx, run)
	if err != nil {
		return nil, err
	}
	for i := range agents {
		if agents[i].Main {
			return &agents[i], nil
		}
	}
	return nil, nil
}

func (k *linker) lastStep(agent string) (int, error) {
	for e, err := range k.earlier(k.d.exchange.Link.Run, 0) {
		if err != nil {
			return 0, err
		}
		if e.Link.Agent == agent && !slices.Contains(k.aside, e.ID) {
			return e.Link.Step, nil
		}
	}
	return 0, nil
}

// beside tells a side call of a session: a first request without tools beside
// first requests that have them, such as the making of a title. Which came
// first does not matter: when the one with tools comes, the others step aside.
func (k *linker) beside() (bool, error) {
	e := k.d.exchange
	if k.id == (transcript.Identity{}) || k.id.IsSub() {
		return false, nil
	}
	plain := e.Tools == 0 && e.Calls == 0
	for other, err := range k.earlier(e.Link.Run, 0) {
		if err != nil {
			return false, err
		}
		if other.Link.Parent != "" || other.Link.Side || other.Dialect == transcript.Unknown {
			continue
		}
		switch {
		case plain && other.Tools > 0:
			e.Link.Side, e.Link.Agent = true, ""
			return true, nil
		case !plain && other.Tools == 0 && other.Calls == 0:
			extended, err := k.tx.Extended(other.ID)
			if err != nil {
				return false, err
			}
			if !extended {
				if err := k.tx.SetSide(other.ID); err != nil {
					return false, err
				}
				k.aside = append(k.aside, other.ID)
			}
		}
	}
	return false, nil
}

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
	sum := sha256.Sum256([]byte(text))
	return transcript.Key(sum[:16]), true
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
