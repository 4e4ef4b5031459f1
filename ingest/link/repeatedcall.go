package link

import (
	"fmt"

	"github.com/retake-debugger/retake/transcript"
)

// maxRepeated bounds how many calls and texts of a history are looked up one by one.
const maxRepeated = 16

// byRepeatedCall finds the answer of which the request repeats a call or the text,
// beyond what parent's history covers: clients that leave out or rewrite parts of
// their history still send calls as they got them, with the same id, name and
// arguments, and mostly final texts too. Ids that count (call_0, functions.x:0) occur
// in unrelated conversations. So without a parent only an id that looks minted is
// evidence, and with one only an answer of its run. It returns parent if there is no
// such answer.
func (k *linker) byRepeatedCall(parent *transcript.Exchange) (*transcript.Exchange, error) {
	l := &k.d.Exchange.Link
	items, where, tried := k.d.Turn.Input, k.d.Where, 0
	if l.ServerHeld() || l.By == transcript.ByRetrieve {
		return parent, nil
	}
	for i := len(items) - 1; i >= 0 && tried < maxRepeated; i-- {
		if where[i] < 0 || items[i].Kind != transcript.ToolCall && (items[i].Kind != transcript.MessageItem || items[i].Role != "assistant") {
			continue
		}
		if where[i] < l.Shared {
			break
		}
		found, by, err := k.repeated(i, parent)
		if err != nil {
			return nil, err
		}
		if by == "" {
			continue
		}
		tried++
		answer, of, err := k.choose(k.near(found, parent))
		if err != nil {
			return nil, err
		}
		if answer == nil {
			continue
		}
		l.By, l.Shared = by, where[i]+1
		l.Evidence = fmt.Sprintf("item %d is x%d's, though the history before it differs", where[i]+1, answer.N)
		if items[i].CallID != "" {
			l.Evidence = fmt.Sprintf("call %s is x%d's, though the history before it differs", items[i].CallID, answer.N)
		}
		if of > 1 {
			l.Evidence += fmt.Sprintf("; ambiguous: %d answers hold that", of)
		}
		return answer, nil
	}
	return parent, nil
}

// repeated returns the exchanges whose answer item i repeats; by is "" if that would
// not be evidence.
func (k *linker) repeated(i int, parent *transcript.Exchange) (found []*transcript.Exchange, by string, err error) {
	it := &k.d.Turn.Input[i]
	if it.Kind == transcript.ToolCall {
		if it.CallID == "" || parent == nil && !minted(it.CallID) {
			return nil, "", nil
		}
		found, err = k.tx.Callers(k.d.key(i), candidates)
		return found, transcript.ByCall, err
	}
	list := fingerprints(it.Text, keptFingerprints)
	if len(list) == 0 {
		return nil, "", nil
	}
	hits := map[string]int{}
	for _, p := range list {
		places, err := k.tx.ByHint(HintOf("said", p), candidates)
		if err != nil {
			return nil, "", err
		}
		for _, place := range places {
			if hits[place.Exchange]++; hits[place.Exchange] < len(list) {
				continue
			}
			e, err := k.tx.Exchange(k.ctx, place.Exchange)
			if err != nil {
				return nil, "", err
			}
			found = append(found, e)
		}
	}
	return found, transcript.ByText, nil
}

// mintedRun is how many letters and digits in a row make an id look random.
const mintedRun = 8

// minted reports whether a call id looks random rather than counted: it contains a
// long run of letters and digits, with both in it.
func minted(id string) bool {
	run, letters, digits := 0, false, false
	for i := range len(id) {
		switch c := id[i]; {
		case c >= '0' && c <= '9':
			digits = true
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			letters = true
		default:
			run, letters, digits = 0, false, false
			continue
		}
		if run++; run >= mintedRun && letters && digits {
			return true
		}
	}
	return false
}
