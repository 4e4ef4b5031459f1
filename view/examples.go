package view

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/transcript"
)

// Examples are messages that a developer put into a prompt as if they had been said
// before: few-shot examples. A missing recording of the answers proves nothing, as
// they may come from an unrecorded conversation. So examples are only recognised by
// evidence that has no other explanation:
//
//	named      the messages are named example_user and example_assistant
//	           (OpenAI's cookbook)
//	repeated   several conversations begin with the very same ones and go on with
//	           another question each, and their clients name no sessions that
//	           could have been taken up again
type Examples struct {
	At       []string `json:"at"` // JSON pointers of the items in the request
	By       string   `json:"by"` // "named" or "repeated"
	Evidence string   `json:"evidence"`
}

// The kinds of evidence for examples.
const (
	ByName       = "named"
	ByRepetition = "repeated"
)

const (
	// sameOpenings is how many conversations must begin with the same examples,
	// because an earlier conversation may be resumed twice.
	sameOpenings = 3
	// openingsRead bounds how many exchanges are compared.
	openingsRead = 2000
)

// examplesIn finds the examples in the history of an exchange, which are in the
// request that began it. It returns nil if there are none.
func examplesIn(ctx context.Context, r transcript.Reader, e *transcript.Exchange, input []transcript.Item) (*Examples, error) {
	if x := named(input); x != nil {
		return x, nil
	}
	if opening(inChain(input)) == 0 {
		return nil, nil
	}
	root, items := e, input
	if e.Link.Parent != "" {
		line, err := r.Line(ctx, e.ID)
		if err != nil || len(line) == 0 {
			return nil, ignoreLost(err)
		}
		if root, err = r.Exchange(ctx, line[0]); err != nil {
			return nil, ignoreLost(err)
		}
		if items, err = inputOf(ctx, r, root); err != nil {
			return nil, ignoreLost(err)
		}
	}
	n, others, err := repeated(ctx, r, root, inChain(items))
	if n == 0 || err != nil {
		return nil, ignoreLost(err)
	}
	was, is := inChain(items), inChain(input)
	x := &Examples{By: ByRepetition, Evidence: fmt.Sprintf("%d recorded conversations begin with the same %d items and go on with another question each; no recorded answer said them", others+1, n)}
	for i := range n {
		if i >= len(is) || transcript.KeyOf(&was[i]) != transcript.KeyOf(&is[i]) {
			return nil, nil // the history was edited
		}
		x.At = append(x.At, is[i].At)
	}
	return x, nil
}

// mark marks the entries that are examples: an item, or a call with its result.
func (x *Examples) mark(exchange string, entries []Entry) {
	if x == nil {
		return
	}
	is := map[string]bool{}
	for _, at := range x.At {
		is[at] = true
	}
	for i := range entries {
		e := &entries[i]
		e.Example = e.Place.Exchange == exchange && e.Place.Body == "request" && is[e.Place.At]
	}
}

func inputOf(ctx context.Context, r transcript.Reader, e *transcript.Exchange) ([]transcript.Item, error) {
	q := history.NewReader(ctx, r)
	request, err := q.Request(e)
	if err != nil {
		return nil, err
	}
	return systemFirst(q.Items(request)), nil
}

// named finds messages with the names of examples.
func named(input []transcript.Item) *Examples {
	x := &Examples{By: ByName, Evidence: "the messages are named as examples"}
	answers := 0
	for i := range input {
		if input[i].Kind != transcript.MessageItem && input[i].Kind != transcript.System {
			continue
		}
		var message struct{ Name string }
		_ = json.Unmarshal(input[i].Raw, &message) // items of another form have no name
		switch message.Name {
		case "example_assistant":
			answers++
			fallthrough
		case "example_user":
			x.At = append(x.At, input[i].At)
		}
	}
	if answers == 0 {
		return nil
	}
	return x
}

// opening counts the chain items up to the last answer that is followed by a user
// message: the possible examples. They begin with a user message.
func opening(items []transcript.Item) int {
	n := 0
	for i := range items {
		if i > 0 && isAnswer(&items[i-1]) && isQuestion(&items[i]) {
			n = i
		}
	}
	if n == 0 || !isQuestion(&items[0]) {
		return 0
	}
	return n
}

func isQuestion(it *transcript.Item) bool {
	return it.Kind == transcript.MessageItem && it.Role == "user"
}

func isAnswer(it *transcript.Item) bool {
	return it.Kind == transcript.MessageItem && (it.Role == "assistant" || it.Role == "model")
}

// repeated counts the first items that a conversation shares with others which then
// ask another question, and the number of those others.
func repeated(ctx context.Context, r transcript.Reader, root *transcript.Exchange, items []transcript.Item) (n, others int, err error) {
	most := opening(items)
	if most == 0 || !isOpening(root) {
		return 0, 0, nil
	}
	keys := transcript.Keys(items)
	ends := map[int]map[transcript.Key]bool{} // length of the shared beginning → the questions after it
	for e, err := range r.Exchanges(ctx, transcript.Filter{Dialect: root.Dialect, Limit: openingsRead}) {
		if err != nil && lost(err) == "" {
			return 0, 0, err
		}
		if err != nil || e.ID == root.ID || e.Link.InNode == root.Link.InNode || !isOpening(e) {
			continue
		}
		theirs, err := inputOf(ctx, r, e)
		if err != nil {
			if lost(err) == "" {
				return 0, 0, err
			}
			continue
		}
		same, question := alike(keys, inChain(theirs))
		if same == 0 || same > most || !isQuestion(&items[same]) || !isAnswer(&items[same-1]) {
			continue
		}
		if ends[same] == nil {
			ends[same] = map[transcript.Key]bool{}
		}
		ends[same][question] = true
	}
	for length, questions := range ends {
		if len(questions) >= sameOpenings-1 && length > n {
			n, others = length, len(questions)
		}
	}
	return n, others, nil
}

// isOpening reports whether an exchange began a conversation that cannot be a
// resumed one: its client names no session.
func isOpening(e *transcript.Exchange) bool {
	return e.Link.Parent == "" && !e.Link.Side && e.Link.InLen > 2 && transcript.Identify(e.Request.Headers) == transcript.Identity{}
}

// alike counts the items that another conversation shares at its beginning, and
// returns its next question; 0 if it continues in another way.
func alike(keys []transcript.Key, theirs []transcript.Item) (int, transcript.Key) {
	for i := range theirs {
		key := transcript.KeyOf(&theirs[i])
		if i < len(keys) && key == keys[i] {
			continue
		}
		if i == 0 || i >= len(keys) || !isQuestion(&theirs[i]) {
			return 0, transcript.Key{}
		}
		return i, key
	}
	return 0, transcript.Key{}
}
