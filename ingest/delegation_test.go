package ingest_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/retake-debugger/retake/ingest/reindex"
	"github.com/retake-debugger/retake/transcript"
)

// delegation is a made-up session of agents that start others.
type delegation struct {
	r        *rand.Rand
	prompts  int  // that are different; agents pass on what they were told, word for word
	named    bool // the client names its session and agents
	captures []*transcript.Capture
}

func (d *delegation) prompt() string {
	return fmt.Sprintf("do the task number %d, please", d.r.IntN(d.prompts))
}

// agent adds what an agent does, with those that it starts.
func (d *delegation) agent(depth int, key, told string) {
	history := []string{ask(told)}
	for left := d.r.IntN(3); left >= 0; left-- {
		n := len(d.captures) + 1
		id, prompt := fmt.Sprint("call_", n), d.prompt()
		starts := depth < 3 && d.r.IntN(2) == 0
		answer := fmt.Sprintf(`{"type":"text","text":"done %d"}`, n)
		if starts || left > 0 {
			answer = use(id, map[bool]string{true: "Task", false: "f"}[starts], fmt.Sprintf(`{"prompt":%q}`, prompt))
		}
		c := capture(n, messagesPath, messagesRequest(history...), messagesAnswer(answer))
		c.StartedAt, c.EndedAt = began.Add(time.Duration(2*n)*time.Second), began.Add(time.Duration(2*n+1)*time.Second)
		if d.named {
			with(c, "X-Claude-Code-Session-Id: s1")
		}
		if d.named && key != "" {
			with(c, "X-Claude-Code-Agent-Id: "+key)
		}
		d.captures = append(d.captures, c)
		if starts {
			d.agent(depth+1, fmt.Sprint(key, "a", n), prompt)
		}
		history = append(history, `{"role":"assistant","content":[`+answer+`]}`, fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"r"}]}`, id))
	}
}

// In whatever order exchanges come, and whatever agents pass on, no agent is started by
// its own call or by those that it started, and deriving again makes nothing else of it.
func TestCommit_AgentsThatStartAgents(t *testing.T) {
	for _, order := range []string{"as they ended", "some early", "shuffled"} {
		for _, d := range []delegation{{prompts: 3}, {prompts: 3, named: true}, {prompts: 1 << 30, named: true}} {
			t.Run(fmt.Sprintf("%s, %d prompts, named %v", order, d.prompts, d.named), func(t *testing.T) {
				started := 0
				for seed := range uint64(8) {
					d.r, d.captures = rand.New(rand.NewPCG(seed, 5)), nil
					d.agent(0, "", d.prompt())
					list := d.captures
					swap := func(i, j int) { list[i], list[j] = list[j], list[i] }
					switch order {
					case "some early":
						for range 3 {
							i := d.r.IntN(len(list))
							swap(i, min(i+1, len(list)-1))
						}
					case "shuffled":
						d.r.Shuffle(len(list), swap)
					}
					started += startedBy(t, seed, list)
				}
				if started == 0 {
					t.Error("no call started an agent")
				}
			})
		}
	}
}

// startedBy takes exchanges in and looks at which agents' calls started others. It gives
// how many are known.
func startedBy(t *testing.T, seed uint64, list []*transcript.Capture) int {
	t.Helper()
	db := mustOpen(t)
	defer db.Close()
	stored := reread(t, db, commit(t, db, list...))
	if found, err := reindex.Compare(t.Context(), db, nil); err != nil || len(found) > 0 {
		t.Errorf("seed %d: derived again %v, %v", seed, found, err)
	}
	by := map[string]string{}
	agent := map[string]string{}
	for _, e := range stored {
		agent[e.ID] = e.Link.Agent
	}
	for _, e := range stored {
		agents, err := db.Agents(t.Context(), e.Link.Run)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range agents {
			if a.ParentCall != nil {
				by[a.ID] = agent[a.ParentCall.Exchange]
			}
		}
	}
	for a := range by {
		up := a
		for range len(by) {
			up = by[up]
		}
		if by[up] != "" {
			t.Errorf("seed %d: an agent is among those that it was started by", seed)
			break
		}
	}
	return len(by)
}
