package web

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// runBuilder lays out the steps of a run.
type runBuilder struct {
	run    *view.Run
	teller *view.StepReader
	budget *budget
	room   int             // steps of sub-agents and branches that still fit
	inside map[string]bool // agents being laid out: a recording may contain cycles
	onPage map[string]bool // steps that are on the page, by exchange
}

func (b *runBuilder) agent(a *view.Agent, steps []*view.Step) (*agentView, error) {
	b.inside[a.ID] = true
	defer delete(b.inside, a.ID)
	v := &agentView{ID: agentID(a)}
	var err error
	if len(steps) > 0 && len(a.Steps) > 0 && steps[0] == a.Steps[0] {
		if v.Branches, err = b.branches(a, 0); err != nil {
			return nil, err
		}
	}
	for _, s := range steps {
		sv, err := b.step(s, s.N)
		if err != nil {
			return nil, err
		}
		if sv.Branches, err = b.branches(a, s.N); err != nil {
			return nil, err
		}
		v.Steps = append(v.Steps, *sv)
	}
	return v, nil
}

func agentID(a *view.Agent) string { return "a" + strconv.Itoa(a.N) }

func stepID(s *view.Step) string { return "x" + strconv.FormatInt(s.ExchangeN, 10) }

// branches lays out the branches that leave an agent after a step.
func (b *runBuilder) branches(a *view.Agent, after int) ([]branchView, error) {
	var list []branchView
	for _, br := range a.Branches {
		if br.From != after {
			continue
		}
		first := br.Steps[0]
		v := branchView{ID: branchID(br), Title: fmt.Sprintf("also went on with x%d, %s", first.ExchangeN, steps(len(br.Steps))), Href: "/x/" + strconv.FormatInt(first.ExchangeN, 10)}
		if br.Take != "" {
			v.Title = fmt.Sprintf("replayed as %s, of %s, from x%d on, %s", br.TakeRef, br.Take, first.ExchangeN, steps(len(br.Steps)))
			v.Take = br.TakeRef
		}
		for _, s := range br.Steps[:max(0, min(len(br.Steps), b.room))] {
			b.room--
			sv, err := b.step(s, 0)
			if err != nil {
				return nil, err
			}
			v.Steps = append(v.Steps, *sv)
		}
		list = append(list, v)
	}
	return list, nil
}

func steps(n int) string {
	if n == 1 {
		return "1 step"
	}
	return count(int64(n)) + " steps"
}

// step lays out one step; number is 0 in a branch.
func (b *runBuilder) step(s *view.Step, number int) (*stepView, error) {
	told, err := b.teller.Read(s)
	if err != nil {
		return nil, err
	}
	if b.onPage == nil {
		b.onPage = map[string]bool{}
	}
	b.onPage[s.Exchange] = true
	v := &stepView{ID: stepID(s), Number: number, S: s, Tools: strings.Join(told.Context.Tools, ", "), Notes: notesOf(told), Found: worth(told.Findings), Changes: changesOf(told)}
	if len(b.run.Models) > 1 {
		v.Model = s.Model
	}
	if v.Blocks, err = b.blocks(told); err != nil {
		return nil, err
	}
	return v, nil
}

// blocks lays out the entries of a step as those of an exchange are.
func (b *runBuilder) blocks(told *view.StepView) ([]block, error) {
	row := view.Row{ID: told.Step.Exchange, N: told.Step.ExchangeN}
	t := &view.Transcript{Exchange: &view.Exchange{Row: row}, Entries: told.Entries}
	if b.run.Status != view.Running {
		t.Children = []view.Row{{N: row.N}} // the result will never arrive
	}
	in := blocks{t: t, ref: row.Ref(), sections: make([]string, len(told.Entries)), numbers: numbersOf(t), budget: b.budget,
		answered: answeredIn(t), prefix: stepID(told.Step) + "-"}
	for i := range in.sections {
		in.sections[i] = answer
	}
	var list []block
	for i := len(told.Entries) - 1; i >= 0; {
		n := in.numbers[i]
		bl := in.block(i-n+1, n)
		for k := range bl.Pairs {
			if err := b.hang(&bl.Pairs[k], &told.Entries[i-n+1+k]); err != nil {
				return nil, err
			}
		}
		b.shorten(&bl)
		list = append(list, bl)
		i -= n
	}
	slices.Reverse(list)
	return list, nil
}

// shortAddition is how much a client may add without a note: tags, white space.
const shortAddition = 40

// shorten leaves out what a client put around the words of its user. Of a message
// that the client sent by itself it keeps the beginning.
func (b *runBuilder) shorten(bl *block) {
	it := bl.Item
	if it.Kind != transcript.MessageItem || it.Role != "user" || it.Text == "" {
		return
	}
	said := transcript.Said(it.Text)
	switch added := len(it.Text) - len(said); {
	case said == "":
		bl.Text.Preview = oneLine(it.Text, 160)
		bl.Text.Folded = bl.Text.Preview != it.Text
	case added > shortAddition:
		whole := bl.Text.Whole
		bl.Text, bl.Added = b.budget.words(said, whole, open), int64(added)
	}
}

// hang puts the agents that a call started under it.
func (b *runBuilder) hang(p *pair, e *view.Entry) error {
	if p.State == stateUnanswered {
		p.Why = "No request brought a result for this call."
	}
	if e.Item.Kind != transcript.ToolCall {
		return nil
	}
	for _, a := range b.run.Under(e.Place) {
		sub := &subAgent{ID: agentID(a), Ref: a.Ref, Name: a.ShortName(), Evidence: a.FoundBy(), Count: len(a.Steps), Href: runURL(b.run.N, a.N, 0)}
		shown := a.Steps[:max(0, min(len(a.Steps), b.room))]
		if b.inside[a.ID] || len(b.inside) > deepestInside {
			shown = nil
		}
		b.room -= len(shown)
		sub.More = len(shown) < len(a.Steps)
		if len(shown) > 0 {
			v, err := b.agent(a, shown)
			if err != nil {
				return err
			}
			v.ID = ""
			sub.View = v
		}
		p.Subs = append(p.Subs, sub)
	}
	return nil
}

// notesOf describes what is special about a step.
func notesOf(t *view.StepView) []note {
	var list []note
	add := func(class, text string, refs ...string) { list = append(list, note{class, text, refs}) }
	s, c := t.Step, &t.Context
	if n := len(s.Attempts); n > 1 {
		var refs []string
		for _, a := range s.Attempts[:n-1] {
			refs = append(refs, view.Ref(a.ExchangeN))
		}
		add("attempts", fmt.Sprintf("%d attempts; before this one failed", n), refs...)
	}
	if t.Missing {
		add("alarm", "The history before this request was not recorded.")
	}
	if x := t.Examples; x != nil {
		add("dim", fmt.Sprintf("%d items are few-shot examples (%s): %s.", len(x.At), x.By, x.Evidence))
	}
	if t.Lost != "" {
		add("alarm", "What this step builds on, or a part of it, "+map[string]string{view.Damaged: "is damaged in the database.", view.Pruned: "was pruned."}[t.Lost])
	}
	if by := s.Link.By; by != "" && by != transcript.ByHistory && by != transcript.ByAttempt {
		add("dim by", strings.TrimSuffix("linked by "+strings.ReplaceAll(by, "_", " ")+": "+s.Link.Evidence, ": "))
	}
	for _, turn := range s.Link.Turns() {
		add("warn", turn)
	}
	if c.System {
		add("warn", "The system prompt is another one than in the step before.")
	}
	if len(c.ToolsAdded)+len(c.ToolsRemoved) > 0 {
		text := "Tools:"
		for _, name := range c.ToolsAdded {
			text += " +" + name
		}
		for _, name := range c.ToolsRemoved {
			text += " −" + name
		}
		add("warn", text)
	}
	if c.Rewritten+c.Dropped > 0 {
		add("warn", fmt.Sprintf("History edited: %d kept, %d new, %d rewritten, %d dropped.", c.Kept, c.New, c.Rewritten, c.Dropped))
	}
	if last := s.Attempts[len(s.Attempts)-1]; s.Failed() {
		add("alarm", failureLine(&last))
	} else if s.Partial() {
		add("alarm half", "The answer is partial: it came without its end.")
	} else if !s.Complete {
		add("alarm", "The answer is not complete.")
	}
	for _, w := range t.Warnings {
		add("dim", "note: "+w)
	}
	return list
}

func failureLine(a *view.Attempt) string {
	text := string(a.Outcome)
	if a.Status >= 400 {
		text += " " + strconv.Itoa(a.Status)
	}
	if a.Error != nil {
		text += ": " + strings.Join(strings.Fields(a.Error.Type+" "+a.Error.Message), " ")
	}
	return text
}

// mostChanges bounds how many changes of the history a page lists.
const mostChanges = 200

func changesOf(t *view.StepView) []changeLine {
	var list []changeLine
	for i := range t.Context.Changes[:min(len(t.Context.Changes), mostChanges)] {
		c := &t.Context.Changes[i]
		line := changeLine{Origin: c.Origin, Kind: labelOf(&c.Was), Was: gist(&c.Was)}
		if c.Now != nil {
			line.Now = gist(c.Now)
		}
		list = append(list, line)
	}
	return list
}

// gist describes an item in one line.
func gist(it *transcript.Item) string {
	if it.Kind == transcript.ToolCall {
		return oneLine(it.Name+" "+it.ArgumentsRaw, 200)
	}
	return oneLine(it.Text, 200)
}
