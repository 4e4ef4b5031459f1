package link

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/retake-debugger/retake/transcript"
)

// join sets the run, agent and step of the exchange.
func (k *linker) join(parent *transcript.Exchange) error {
	l := &k.d.Exchange.Link
	if k.sentBy != nil {
		k.joinTake(parent)
		return nil
	}
	if l.By == transcript.ByRetrieve {
		return k.joinStep(parent)
	}
	failed, err := k.failedBefore(parent)
	if err != nil {
		return err
	}
	if failed != nil {
		l.Run, l.Agent, l.Step, l.Attempt = failed.Link.Run, failed.Link.Agent, failed.Link.Step, failed.Link.Attempt+1
		if parent == nil {
			l.By, l.Evidence = transcript.ByAttempt, fmt.Sprintf("the same input as x%d, which failed", failed.N)
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
	k.leavePending(parent, caller)
	for _, key := range k.names() {
		if err := k.tx.BindRun(key, l.Run); err != nil {
			return err
		}
	}
	return k.setAgent(parent, caller)
}

// names are the client's names for the run, the most specific first. The agent's
// own name comes last: the first exchange with that name is not in the run yet.
func (k *linker) names() []string { return namesOf(k.id) }

func namesOf(id transcript.Identity) []string {
	return slices.DeleteFunc([]string{id.Session, id.Parent, id.Agent}, func(s string) bool { return s == "" })
}

// mayJoin reports whether the client's own words allow the exchange to belong to
// e's agent.
func (k *linker) mayJoin(e *transcript.Exchange) (bool, error) {
	if k.id == (transcript.Identity{}) || e.Link.Agent == "" {
		return true, nil
	}
	if run, _, err := k.named(); err != nil || run != "" && run != e.Link.Run {
		return false, err
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

// runOf returns the run of the label, or else of the parent, or of the client's
// names, or of the call that started this agent, or a new one.
func (k *linker) runOf(parent *transcript.Exchange, caller *transcript.Exchange) (string, error) {
	l := &k.d.Exchange.Link
	switch {
	case k.run != "":
		if parent == nil && l.By == "" {
			l.By = transcript.ByLabel
		}
		return k.run, nil
	case parent != nil:
		return parent.Link.Run, nil
	case k.alone:
		return k.newRun()
	case k.about != "":
		l.By, l.Evidence = transcript.ByConversation, k.d.Turn.Conversation+k.d.Turn.RetrievedID
		return k.about, nil
	}
	run, name, err := k.named()
	if err != nil {
		return "", err
	}
	if run != "" {
		l.By, l.Evidence = transcript.BySession, name
		return run, nil
	}
	if caller != nil {
		l.By, l.Evidence = transcript.ByPrompt, fmt.Sprintf("its first message is what a call of x%d passed on", caller.N)
		return caller.Link.Run, nil
	}
	if run, err := k.runAtTheTime(); err != nil || run != "" {
		return run, err
	}
	return k.newRun()
}

func (k *linker) newRun() (string, error) {
	begun, err := k.tx.NewRun(k.d.Exchange.StartedAt)
	if err != nil {
		return "", err
	}
	return begun.ID, nil
}

// named returns the run that one of the client's names means, "" if there is none.
// A run in which no earlier exchange has that name does not count: this exchange
// gave it the name.
func (k *linker) named() (run, name string, err error) {
	if !k.asked {
		k.namedRun, k.namedBy, err = k.askNamed()
		k.asked = err == nil
	}
	return k.namedRun, k.namedBy, err
}

func (k *linker) askNamed() (run, name string, err error) {
	for _, name := range k.names() {
		run, err := k.tx.RunByKey(name)
		if errors.Is(err, transcript.ErrNotFound) {
			continue
		}
		if err != nil {
			return "", "", err
		}
		if borne, err := k.borne(run.ID, name); err != nil || borne {
			return run.ID, name, err
		}
	}
	return "", "", nil
}

// borne reports whether an earlier exchange of a run has that name. Mostly the last
// one has.
func (k *linker) borne(run, name string) (bool, error) {
	for _, most := range []int{1, 0} {
		for e, err := range k.earlier(run, most) {
			if err != nil {
				return false, err
			}
			if slices.Contains(namesOf(transcript.Identify(e.Request.Headers)), name) {
				return true, nil
			}
		}
	}
	return false, nil
}

// earlier lists the exchanges of a run before this one, newest first. A run without
// an id does not exist yet.
func (k *linker) earlier(run string, limit int) iter.Seq2[*transcript.Exchange, error] {
	if run == "" {
		return func(func(*transcript.Exchange, error) bool) {}
	}
	return k.tx.Exchanges(k.ctx, transcript.Filter{Run: run, Before: k.d.Exchange.N, Limit: limit})
}

// setAgent finds or makes the agent of the exchange.
func (k *linker) setAgent(parent, caller *transcript.Exchange) error {
	l := &k.d.Exchange.Link
	if k.d.Exchange.Dialect == transcript.Unknown {
		l.Side = true
		return nil
	}
	if l.By == transcript.ByHandoff {
		return k.newAgent(transcript.Agent{Key: k.id.Agent, Evidence: "handoff"})
	}
	if parent != nil && (k.id.Agent == "" || l.By == transcript.ByUser) {
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
	l := &k.d.Exchange.Link
	l.Agent, l.Step, l.Attempt = agent, parent.Link.Step+1, 1
	return nil
}

// known joins an agent that the client names.
func (k *linker) known(a *transcript.Agent, parent *transcript.Exchange) error {
	l := &k.d.Exchange.Link
	if parent != nil && parent.Link.Agent == a.ID {
		return k.continues(a.ID, parent)
	}
	side, err := k.beside()
	if err != nil || side {
		return err
	}
	last, err := k.lastStep(a.ID)
	l.Agent, l.Step, l.Attempt = a.ID, last+1, 1
	if err != nil || last > 0 {
		return err
	}
	return k.startedBy(a)
}

// startedBy stores the call that started an agent whose first step came before it.
func (k *linker) startedBy(a *transcript.Agent) error {
	if a.Main || k.call == nil || a.ParentCall != nil && *a.ParentCall == *k.call {
		return nil
	}
	return k.tx.SetParentCall(a.ID, *k.call)
}

// starts begins an agent: a sub-agent if the client says so or its first message is
// the prompt of a call, else a main agent.
func (k *linker) starts(caller *transcript.Exchange) error {
	l := &k.d.Exchange.Link
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
	l := &k.d.Exchange.Link
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

// lastStep returns the step of an agent that this exchange follows, 0 if there is
// none: one that came before it may have begun later.
func (k *linker) lastStep(agent string) (int, error) {
	last, err := k.tx.LastStep(agent)
	if errors.Is(err, transcript.ErrNotFound) {
		return 0, nil
	}
	n := k.d.Exchange.N // of an exchange that is linked again
	if err == nil && k.before(last) && (n == 0 || last.N < n) && !slices.Contains(k.aside, last.ID) {
		return last.Link.Step, nil
	}
	for e, err := range k.earlier(k.d.Exchange.Link.Run, 0) {
		if err != nil {
			return 0, err
		}
		if e.Link.Agent == agent && k.before(e) && !slices.Contains(k.aside, e.ID) {
			return e.Link.Step, nil
		}
	}
	return 0, nil
}
