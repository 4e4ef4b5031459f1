package link

import (
	"slices"

	"github.com/retake-debugger/retake/transcript"
)

// changes sets how the exchange differs from the one before, and how much of the
// history goes on.
func (k *linker) changes(parent *transcript.Exchange) error {
	l := &k.d.Exchange.Link
	if parent == nil || l.By == transcript.ByRetrieve || l.By == transcript.ByAttempt {
		return nil
	}
	c := k.differences(parent)
	if c == (transcript.Change{}) {
		return nil
	}
	k.count(&c, parent)
	if c.Compacted {
		if err := k.countDropped(&c, parent); err != nil {
			return err
		}
	}
	l.Change = c
	return nil
}

func (k *linker) differences(parent *transcript.Exchange) transcript.Change {
	e := k.d.Exchange
	l, p := &e.Link, &parent.Link
	unknown := p.Settings == (transcript.Settings{}) && parent.Tools > 0 // recorded before settings were kept
	repeats := l.By == transcript.ByCall || l.By == transcript.ByText
	c := transcript.Change{
		System:    l.Settings.System != p.Settings.System && !unknown,
		Tools:     l.Settings.Tools != p.Settings.Tools && !unknown,
		Compacted: l.By == transcript.ByCompaction || k.d.Turn.Replaces || repeats && 2*l.Shared < p.OutLen,
		Rewritten: repeats,
		Handoff:   l.By == transcript.ByHandoff,
	}
	if l.ServerHeld() && l.Settings == (transcript.Settings{}) { // the provider may hold them too
		c.System, c.Tools = false, false
	}
	if c.System && !l.Settings.Alike(p.Settings) {
		c.Handoff = true
	}
	if e.Model != parent.Model && e.Model != "" && parent.Model != "" {
		c.Model = parent.Model
	}
	if e.Dialect != parent.Dialect {
		c.Dialect = string(parent.Dialect)
	}
	if e.Upstream != parent.Upstream {
		c.Upstream = parent.Upstream
	}
	return c
}

// count counts how much of the input the history before held and how much is new.
func (k *linker) count(c *transcript.Change, parent *transcript.Exchange) {
	l := &k.d.Exchange.Link
	for i, where := range k.d.Where {
		switch {
		case where < 0:
		case where < l.Shared, l.By == transcript.ByHandoff && k.d.Turn.Input[i].Role == "user":
			c.Passed.Add(&k.d.Turn.Input[i])
		default:
			c.Added.Add(&k.d.Turn.Input[i])
		}
	}
	if l.ServerHeld() {
		c.Passed.Items += parent.Link.OutLen
	} else if l.By != transcript.ByHandoff && l.Shared < parent.Link.OutLen {
		c.Dropped.Items = parent.Link.OutLen - l.Shared
	}
	usage := k.d.Exchange.Usage
	if total := c.Passed.Bytes + c.Added.Bytes; usage != nil && total > 0 && !l.ServerHeld() {
		c.Passed.Tokens = int64(float64(usage.InputTotal) * float64(c.Passed.Bytes) / float64(total))
		c.Added.Tokens = usage.InputTotal - c.Passed.Tokens
	}
}

// countDropped reads the history before and counts how much of it is gone. That is
// needed once, for a compaction.
func (k *linker) countDropped(c *transcript.Change, parent *transcript.Exchange) error {
	if k.d.Turn.Replaces {
		c.Dropped = dropped(k.d.Turn.Input, k.d.Turn.Output)
		return nil
	}
	before, err := k.turn(k.ctx, k.tx, parent.ID)
	if err != nil || before == nil {
		return err
	}
	c.Dropped = dropped(append(slices.Clip(before.Input), before.Output...), k.d.Turn.Input)
	if u := parent.Usage; u != nil {
		c.Dropped.Tokens = max(0, u.InputTotal+u.Output-c.Passed.Tokens)
	}
	return nil
}

// dropped counts the items of a history that another one does not contain.
func dropped(before, now []transcript.Item) transcript.Amount {
	kept := map[transcript.Key]int{}
	for _, key := range transcript.Keys(now) {
		kept[key]++
	}
	var load transcript.Amount
	for i := range before {
		if !before[i].InChain() {
			continue
		}
		if key := transcript.KeyOf(&before[i]); kept[key] > 0 {
			kept[key]--
		} else {
			load.Add(&before[i])
		}
	}
	return load
}
