package ingest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/transcript"
)

// forest is random traffic of many runs at once, with what continues what.
type forest struct {
	rand    *rand.Rand
	events  []event
	active  []*actor
	started int
	serial  int
}

// event is one exchange; parent is the event that it continues, -1 for none.
type event struct {
	script
	tree, parent int
	actor        string // in words, to explain an error
}

// actor is an agent that a client drives: it holds a history, as the client
// would send it again, and what the client does to it.
type actor struct {
	tree    int
	api     string
	habit   string // what the client does to its history
	history []part
	parent  int // the event of the last answer
	left    int // steps
	waits   int // sub-agents that are at work
	caller  *actor
	callID  string
	request []part
	counter int
}

// habits are what clients do, by how often.
var habits = []string{
	"nothing", "nothing", "nothing", "nothing", "counted ids", "counted ids", "counted ids", "no thinking", "no text beside calls",
	"arguments written otherwise", "ids written anew", "old results cut", "old rounds dropped", "a reminder moves", "items twice",
}

// equalPrompts begin many runs alike.
var equalPrompts = []string{"Fix the tests", "Write a summary of the news", "Hello", "What is the weather?", "Go on"}

func newForest(seed uint64) *forest { return &forest{rand: rand.New(rand.NewPCG(seed, 7))} }

func (f *forest) chance(p float64) bool { return f.rand.Float64() < p }

// grow makes the traffic of so many runs, some of them at a time.
func (f *forest) grow(trees, atOnce int) {
	for f.started < trees || len(f.active) > 0 {
		if f.started < trees && (len(f.active) < atOnce || f.chance(0.05)) {
			f.plant()
			continue
		}
		ready := slices.DeleteFunc(slices.Clone(f.active), func(a *actor) bool { return a.waits > 0 })
		f.act(ready[f.rand.IntN(len(ready))])
	}
}

func (f *forest) plant() {
	prompt := equalPrompts[f.rand.IntN(len(equalPrompts))]
	a := &actor{tree: f.started, api: []string{"chat", "messages", "responses"}[f.rand.IntN(3)], habit: habits[f.rand.IntN(len(habits))],
		history: []part{{kind: "s", text: "You are an agent."}, {kind: "t", name: "f"}, {kind: "u", text: prompt}}, parent: -1, left: 1 + f.rand.IntN(6)}
	f.started++
	f.active = append(f.active, a)
}

func (f *forest) words(n int) string {
	text := ""
	for range n {
		text += fmt.Sprintf("w%d ", f.rand.IntN(100000))
	}
	return text + "."
}

// act sends the next request of an agent and takes its answer.
func (f *forest) act(a *actor) {
	if a.request == nil {
		a.request = f.sent(a)
	}
	e := event{script: script{n: len(f.events) + 1, api: a.api, input: a.request}, tree: a.tree, parent: a.parent,
		actor: fmt.Sprintf("%s, %s, %d items", a.habit, a.api, len(a.request))}
	if f.chance(0.08) { // it fails, and the client tries again
		e.status = 503
		f.events = append(f.events, e)
		return
	}
	e.output = f.answer(a)
	f.events = append(f.events, e)
	a.request = nil
	if f.chance(0.06) && a.caller == nil { // a fork: somebody goes on from here in another way
		fork := *a
		fork.history = append(slices.Clone(a.history), part{kind: "u", text: "Try otherwise: " + f.words(2)})
		fork.left = 1 + f.rand.IntN(3)
		f.active = append(f.active, &fork)
	}
	a.parent = len(f.events) - 1
	f.receive(a, e.output)
}

// answer makes what the model says: calls while there are steps left.
func (f *forest) answer(a *actor) []part {
	var out []part
	if f.chance(0.3) {
		out = append(out, part{kind: "th", text: f.words(5)})
	}
	a.left--
	if a.left <= 0 {
		text := f.words(12)
		if f.chance(0.02) {
			text = "Done."
		}
		return append(out, part{kind: "a", text: text})
	}
	if f.chance(0.5) {
		out = append(out, part{kind: "a", text: f.words(4)})
	}
	for range 1 + f.rand.IntN(3) {
		c := part{kind: "c", id: f.id(a), name: "f", text: fmt.Sprintf(`{"path": "%s", "n": %d}`, f.words(1), f.rand.IntN(5))}
		if f.chance(0.1) && a.caller == nil {
			c.name, c.text = "Task", fmt.Sprintf(`{"prompt":%q}`, "Please look at "+f.words(3))
		}
		out = append(out, c)
	}
	return out
}

func (f *forest) id(a *actor) string {
	if a.habit == "counted ids" {
		a.counter++
		return fmt.Sprintf("call_%d", a.counter%3)
	}
	f.serial++
	return fmt.Sprintf("toolu_%04xab%06d", f.rand.IntN(1<<16), f.serial)
}

// receive adds an answer to the history, and the results of its calls.
func (f *forest) receive(a *actor, output []part) {
	calls := 0
	for _, p := range output {
		if p.kind == "c" {
			calls++
		}
	}
	for _, p := range output {
		switch {
		case p.kind == "th" && a.habit == "no thinking", p.kind == "a" && calls > 0 && a.habit == "no text beside calls":
			continue
		case p.kind == "c" && a.habit == "arguments written otherwise":
			p.text = reordered(p.text)
		}
		a.history = append(a.history, p)
	}
	if calls == 0 {
		f.end(a, output[len(output)-1].text)
		return
	}
	for _, p := range output {
		switch {
		case p.kind != "c":
		case p.name == "Task":
			f.spawn(a, p)
		default:
			a.history = append(a.history, part{kind: "r", id: p.id, text: f.words(6)})
		}
	}
}

// reordered writes the members of the arguments in another order.
func reordered(arguments string) string {
	var path string
	var n int
	if _, err := fmt.Sscanf(arguments, `{"path": "%s .", "n": %d}`, &path, &n); err != nil {
		return arguments
	}
	return fmt.Sprintf(`{"n":%d,"path":"%s ."}`, n, path)
}

func (f *forest) spawn(a *actor, c part) {
	var prompt string
	fmt.Sscanf(c.text, `{"prompt":%q}`, &prompt)
	a.waits++
	f.active = append(f.active, &actor{tree: a.tree, api: a.api, habit: a.habit, parent: -1, left: 1 + f.rand.IntN(3), caller: a, callID: c.id,
		history: []part{{kind: "t", name: "f"}, {kind: "u", text: prompt}}})
}

// end is what comes after a final answer: the caller goes on, the user asks for
// more, the history is compacted, or nothing.
func (f *forest) end(a *actor, text string) {
	if a.caller != nil {
		a.caller.waits--
		a.caller.history = append(a.caller.history, part{kind: "r", id: a.callID, text: text})
		f.remove(a)
		return
	}
	last := a.history[len(a.history)-2]
	switch {
	case last.kind == "u" && last.text == summarise:
		a.history = []part{a.history[0], a.history[1], {kind: "u", text: "What was before:\n" + text + "\nGo on."}}
		a.left = 2 + f.rand.IntN(3)
	case f.chance(0.3):
		a.history = append(a.history, part{kind: "u", text: "Now " + f.words(2)})
		a.left = 1 + f.rand.IntN(4)
	case f.chance(0.15) && len(a.history) > 8:
		a.history = append(a.history, part{kind: "u", text: summarise})
		a.left = 1
	default:
		f.remove(a)
	}
}

const summarise = "Write a summary of all this."

func (f *forest) remove(a *actor) {
	f.active = slices.DeleteFunc(f.active, func(b *actor) bool { return b == a })
}

// sent is the history as the client sends it.
func (f *forest) sent(a *actor) []part {
	h := slices.Clone(a.history)
	switch a.habit {
	case "ids written anew":
		now := map[string]string{}
		for i := range h {
			if h[i].id != "" {
				if now[h[i].id] == "" {
					f.serial++
					now[h[i].id] = fmt.Sprintf("anew_%07d", f.serial)
				}
				h[i].id = now[h[i].id]
			}
		}
	case "old results cut":
		for i := range h {
			if h[i].kind == "r" && i < len(h)-6 {
				h[i].text = "(cut)"
			}
		}
	case "old rounds dropped":
		h = f.withoutOldRound(h)
	case "a reminder moves":
		if f.chance(0.7) {
			h = append(h, part{kind: "u", text: fmt.Sprintf("Reminder: it is step %d.", len(f.events))})
		}
	case "items twice":
		if f.chance(0.2) {
			h = append(h, h[len(h)-1])
		}
	}
	return h
}

// withoutOldRound drops an answer that is not the last one, with its results.
func (f *forest) withoutOldRound(h []part) []part {
	var begins []int
	for i := 3; i < len(h); i++ {
		if isAnswer(h[i]) && !isAnswer(h[i-1]) {
			begins = append(begins, i)
		}
	}
	if len(begins) < 3 || f.chance(0.5) {
		return h
	}
	k := f.rand.IntN(len(begins) - 2)
	return slices.Delete(h, begins[k], begins[k+1])
}

// captures gives the traffic in the order in which it is taken in: some answers
// end after what goes on from them.
func (f *forest) captures() []*transcript.Capture {
	list := make([]*transcript.Capture, len(f.events))
	for i := range f.events {
		list[i] = f.events[i].capture()
		list[i].StartedAt = began.Add(time.Duration(i) * time.Second)
		list[i].EndedAt = list[i].StartedAt.Add(time.Second)
	}
	for i := 1; i < len(list); i++ {
		if f.chance(0.05) {
			list[i-1], list[i] = list[i], list[i-1]
		}
	}
	return list
}

func TestForest_LinksOfRandomRuns(t *testing.T) {
	trees, seeds := 250, uint64(4)
	if testing.Short() || underRace {
		trees, seeds = 100, 1
	}
	var links tally
	exchanges, strangers, explained := 0, 0, 0
	mixed := map[string]int{}
	for seed := range seeds {
		f := newForest(seed + 1)
		f.grow(trees, 20)
		db := mustOpen(t)
		var committer ingest.Committer
		captures := f.captures()
		for group := range slices.Chunk(captures, 64) {
			if _, err := committer.Commit(context.Background(), db, group); err != nil {
				t.Fatal(err)
			}
		}
		if seed == 0 {
			agree(t, db)
		}
		number, runs := map[string]int{}, map[string]int{}
		stored := make([]*transcript.Exchange, len(f.events))
		for i := range f.events {
			c := f.events[i].capture()
			number[c.ID] = i
			e, err := db.Exchange(context.Background(), c.ID)
			if err != nil {
				t.Fatal(err)
			}
			stored[i] = e
		}
		for i := range f.events {
			e := &f.events[i]
			exchanges++
			parent := -1
			if stored[i].Link.Parent != "" {
				parent = number[stored[i].Link.Parent]
			}
			if e.parent >= 0 {
				links.wanted++
			}
			if parent >= 0 {
				links.made++
			}
			if tree, ok := runs[stored[i].Link.Run]; !ok {
				runs[stored[i].Link.Run] = e.tree
			} else if tree != e.tree {
				strangers++
				if stored[i].Link.Parent == "" {
					mixed[stored[i].Link.By]++
				}
			}
			switch {
			case parent == e.parent && parent >= 0:
				links.right++
			case parent != e.parent:
				if explained++; explained <= 30 {
					t.Logf("seed %d: %d of run %d continues %d, not %d (%s; %s)", seed+1, i, e.tree, e.parent, parent, e.actor, stored[i].Link.Evidence)
				}
			}
		}
	}
	t.Logf("%d runs, %d exchanges, %d links: precision %.4f, recall %.4f; %d exchanges in a run of strangers",
		trees*int(seeds), exchanges, links.wanted, links.precision(), links.recall(), strangers)
	t.Logf("they began by %v", mixed)
	if links.precision() < 0.99 || links.recall() < 0.99 {
		t.Error("want 0.99 of both at least")
	}
}
