package link

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retake-debugger/retake/transcript"
)

// The fingerprints of a text are its longest lines, by which the text is recognised
// inside another one: a summary in the history that it replaces, a final answer in the
// prompt of another agent.
const (
	shortestFingerprint = 48
	keptFingerprints    = 4  // of an answer
	soughtFingerprints  = 32 // of a request
	mostTexts           = 8  // messages of a request that are read
	handedWithin        = time.Hour
)

// fingerprints returns the longest lines of a text, at most most of them.
func fingerprints(text string, most int) []string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); len(line) >= shortestFingerprint && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
		if len(lines) > 1000 {
			break
		}
	}
	slices.SortStableFunc(lines, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return lines[:min(most, len(lines))]
}

// putFingerprints stores the fingerprints of a final answer, one without calls. Each
// says how many there are.
func putFingerprints(tx transcript.Tx, d *Subject) error {
	if d.Exchange.Calls > 0 || d.Exchange.Dialect == transcript.Unknown {
		return nil
	}
	list := fingerprints(d.Turn.Text, keptFingerprints)
	for _, p := range list {
		if err := tx.PutHint(HintOf("said", p), d.Exchange.ID, strconv.Itoa(len(list))); err != nil {
			return err
		}
	}
	return nil
}

// byCompaction finds the answer that made the compaction in the request, beyond what
// parent's history covers.
func (k *linker) byCompaction(parent *transcript.Exchange) (*transcript.Exchange, error) {
	l := &k.d.Exchange.Link
	for i := len(k.d.Turn.Input) - 1; i >= 0 && !l.ServerHeld(); i-- {
		it := &k.d.Turn.Input[i]
		if it.Kind != transcript.Compaction {
			continue
		}
		if k.d.Where[i] < l.Shared {
			break
		}
		holder, err := k.holder(it.ItemID)
		if err != nil || holder == nil {
			return parent, err
		}
		l.By, l.Shared, l.Evidence = transcript.ByCompaction, k.afterAnswer(i), fmt.Sprintf("x%d made the compaction %s", holder.N, it.ItemID)
		return holder, nil
	}
	return parent, nil
}

// byFingerprint finds the answer whose text a request without a recorded history
// contains: a summary of the agent's own history, or another agent's final text.
func (k *linker) byFingerprint() (*transcript.Exchange, error) {
	e, err := k.answerInside()
	if err != nil || e == nil {
		return nil, err
	}
	l := &k.d.Exchange.Link
	summary, err := k.summarises(e)
	if err != nil {
		return nil, err
	}
	if summary {
		l.By, l.Evidence = transcript.ByCompaction, fmt.Sprintf("its history is what x%d summed up", e.N)
		return e, nil
	}
	if k.id.Session != "" {
		if run, _, err := k.named(); err != nil || run != e.Link.Run {
			return nil, err
		}
	}
	l.By, l.Evidence = transcript.ByHandoff, fmt.Sprintf("its first message holds what x%d said", e.N)
	return e, nil
}

// answerInside finds the final answer of which this request's first messages contain
// half of the fingerprints or more.
func (k *linker) answerInside() (*transcript.Exchange, error) {
	if k.d.Exchange.Dialect == transcript.Unknown {
		return nil, nil
	}
	var hints []transcript.Key
	for _, p := range k.fingerprints() {
		hints = append(hints, HintOf("said", p))
	}
	if any, err := k.tx.AnyByHint(hints); err != nil || !any {
		return nil, err
	}
	counts := map[string]int{}
	var best *transcript.Exchange
	for _, hint := range hints {
		places, err := k.tx.ByHint(hint, candidates)
		if err != nil {
			return nil, err
		}
		var found []*transcript.Exchange
		for _, place := range places {
			if counts[place.Exchange]++; counts[place.Exchange]*2 < atoi(place.At) {
				continue
			}
			e, err := k.tx.Exchange(k.ctx, place.Exchange)
			if err != nil {
				return nil, err
			}
			if k.before(e) && k.d.Exchange.StartedAt.Sub(e.StartedAt).Abs() <= handedWithin && (k.run == "" || k.run == e.Link.Run) {
				found = append(found, e)
			}
		}
		e, err := k.latestOpen(found)
		if err != nil {
			return nil, err
		}
		if e != nil && (best == nil || e.N > best.N) {
			best = e
		}
	}
	return best, nil
}

// latestOpen returns the latest that nothing continues yet, or else the latest.
func (k *linker) latestOpen(found []*transcript.Exchange) (*transcript.Exchange, error) {
	for _, e := range found {
		extended, err := k.tx.Extended(e.ID)
		if err != nil || !extended {
			return e, err
		}
	}
	return first(found), nil
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// fingerprints returns those of what users and systems say before the first answer.
func (k *linker) fingerprints() []string {
	var all []string
	texts := 0
	for i := range k.d.Turn.Input {
		it := &k.d.Turn.Input[i]
		if it.Kind == transcript.ToolCall || it.Kind == transcript.ToolResult || it.Role == "assistant" {
			break
		}
		if it.Kind != transcript.MessageItem {
			continue
		}
		if texts++; texts > mostTexts {
			break
		}
		all = append(all, fingerprints(it.Text, soughtFingerprints)...)
	}
	return all[:min(soughtFingerprints, len(all))]
}

// summarises reports whether an answer is the summary of a history of this agent: the
// agent is the same, by its own name or by its settings, and there was a history to
// sum up.
func (k *linker) summarises(e *transcript.Exchange) (bool, error) {
	if ok, err := k.mayJoin(e); err != nil || !ok || e.Link.InLen < 3 {
		return false, err
	}
	s := k.d.Exchange.Link.Settings
	for range 2 {
		if s.Tools == e.Link.Settings.Tools && s.Alike(e.Link.Settings) {
			return s != (transcript.Settings{}) || asksForSummary(e.Preview), nil
		}
		if e.Link.Parent == "" {
			break
		}
		parent, err := k.tx.Exchange(k.ctx, e.Link.Parent)
		if errors.Is(err, transcript.ErrNotFound) {
			break
		}
		if err != nil {
			return false, err
		}
		e = parent
	}
	return false, nil
}

func asksForSummary(text string) bool {
	text = strings.ToLower(text)
	return strings.Contains(text, "summar") || strings.Contains(text, "compact") || strings.Contains(text, "condense")
}
