package link

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/retake-debugger/retake/transcript"
)

// The last rounds of a request tell of its new results what all of it does.
func TestAnswers_AreThoseOfTheWholeHistory(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	ids, names := []string{"", "a", "b", "call_0"}, []string{"", "f", "g"}
	narrowed, some := 0, 0
	for range 20_000 {
		var items []transcript.Item
		for range 1 + random.IntN(14) {
			it := transcript.Item{CallID: ids[random.IntN(len(ids))], Name: names[random.IntN(len(names))]}
			switch random.IntN(8) {
			case 0, 1, 2:
				it.Kind, it.Role = transcript.ToolCall, "assistant"
			case 3, 4, 5:
				it.Kind, it.Role = transcript.ToolResult, "tool"
			case 6:
				it.Kind, it.Role, it.Text = transcript.MessageItem, []string{"user", "assistant"}[random.IntN(2)], "x"
			default:
				it.Kind = []transcript.Kind{transcript.Reasoning, transcript.System}[random.IntN(2)]
			}
			it.ServerSide = it.Kind != transcript.MessageItem && random.IntN(12) == 0
			items = append(items, it)
		}
		d := &Subject{Exchange: &transcript.Exchange{}, Turn: &transcript.Turn{Input: items}, Where: ChainIndex(items)}
		d.Exchange.Link.Shared = random.IntN(len(items) + 1)
		fresh := map[int]bool{}
		for _, i := range NewResults(d) {
			fresh[i] = true
		}
		answers, orphans, first := (&results{d: d}).answers()
		wantAnswers, wantFirst := map[int]int{}, len(items)
		var wantOrphans []int
		for _, m := range transcript.PairItems(items) {
			switch {
			case m.Result < 0 || !fresh[m.Result]:
			case m.State == transcript.Paired:
				wantAnswers[m.Call], wantFirst = m.Result, min(wantFirst, m.Call)
			case m.State == transcript.OrphanResult:
				wantOrphans = append(wantOrphans, m.Result)
			}
		}
		if !maps.Equal(answers, wantAnswers) || !slices.Equal(orphans, wantOrphans) || first != wantFirst {
			t.Fatalf("shared %d of %+v:\nanswers %v, orphans %v from %d\nwant %v, %v from %d", d.Exchange.Link.Shared, items, answers, orphans, first, wantAnswers, wantOrphans, wantFirst)
		}
		if len(fresh) > 0 {
			some++
			if lastRounds(items, slices.Min(slices.Collect(maps.Keys(fresh)))) > 0 && len(orphans) == 0 {
				narrowed++
			}
		}
	}
	if some == 0 || narrowed == 0 {
		t.Errorf("%d histories with new results, %d of them narrowed", some, narrowed)
	}
}
