package mock_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/retake-debugger/retake/replay/mock"
)

// Agents that ask at once, each with a history of its own that begins as all others do,
// get their own answers, however the recordings lie.
func TestHandler_SixteenAgentsAtOnce(t *testing.T) {
	const agents, steps = 16, 12
	type call struct{ request, answer string }
	runs := make([][]call, agents)
	var all []call
	for a := range runs {
		texts := []string{"the same task"}
		if a%2 == 0 {
			texts[0] = fmt.Sprintf("task of agent %d", a)
		}
		for s := range steps {
			answer := fmt.Sprintf("agent %d step %d", a, s)
			if a%2 == 1 && s == 0 {
				answer = "the same first answer"
			}
			runs[a] = append(runs[a], call{chat(texts...), answer})
			texts = append(texts, answer, fmt.Sprintf("result %d of %d", s, a))
		}
		all = append(all, runs[a]...)
	}
	rand.New(rand.NewPCG(7, 7)).Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	p := newRecordings(t)
	for _, c := range all {
		p.add(chatPath, c.request, 200, saying(c.answer), nil)
	}
	server := p.serve(&mock.Handler{})
	var wg sync.WaitGroup
	for _, run := range runs {
		wg.Go(func() {
			for _, c := range run {
				if g := post(server.URL+chatPath, c.request); g.status != 200 || g.body != saying(c.answer) {
					t.Errorf("got %d %s, want %s", g.status, g.body, c.answer)
				}
			}
		})
	}
	wg.Wait()
	if g := post(server.URL+chatPath, runs[0][0].request); g.refusal(t).Error.Code != "replay_exhausted" {
		t.Errorf("after all: %s", g.body)
	}
}

// The nearest recording is found by the history that it shares, and what is told of a
// long difference is short.
func TestMiss_NamesTheNearestOfMany(t *testing.T) {
	p := newRecordings(t)
	for a := range 30 {
		texts := []string{fmt.Sprintf("task %d", a)}
		for s := range 6 {
			p.add(chatPath, chat(texts...), 200, saying("a"), nil)
			texts = append(texts, "a", fmt.Sprintf("r%d ", s)+strings.Repeat("x", 3000))
		}
	}
	server := p.serve(&mock.Handler{})
	live := []string{"task 17", "a", "r0 " + strings.Repeat("x", 3000), "a", "r1 " + strings.Repeat("x", 2000) + "y" + strings.Repeat("x", 999)}
	g := post(server.URL+chatPath, chat(live...))
	e := g.refusal(t).Error
	if e.Nearest != fmt.Sprintf("x%d", 17*6+3) || len(e.Diff) != 1 || e.Diff[0].At != "/messages/4/content" || !strings.Contains(string(e.Diff[0].Live), "xyx") || strings.Contains(string(e.Diff[0].Recorded), "y") || len(g.body) > 3000 {
		t.Errorf("%s", g.body)
	}
}
