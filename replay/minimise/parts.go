package minimise

import (
	"slices"
	"strconv"
	"strings"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
)

// parts is a request taken apart into what a minimisation keeps or leaves out: units
// of its items, lines of their texts, and tools. Pointers are those of body.
type parts struct {
	speaks transcript.Dialect
	api    *dialect.API // of speaks
	body   []byte
	turn   *transcript.Turn // of body
	pieces []piece
	units  [][]int // the pieces that stay or go together
	tools  []piece
	texts  []longText
}

// piece is an item of the request.
type piece struct {
	item *transcript.Item
	// chain begins with the pointer that is dropped for it alone; then come those of
	// what holds it, and goes with the last that is in it.
	chain []string
	unit  int   // -1 if it is kept with others:
	with  []int // as long as one of these pieces is
}

func readParts(req *replay.Request) (*parts, error) {
	turn, err := req.Turn()
	if err != nil {
		return nil, err
	}
	p := &parts{api: dialect.Of(req.Speaks()), speaks: req.Speaks(), turn: turn}
	if p.body, err = req.Plain(); err != nil {
		return nil, err
	}
	items := turn.Input
	for i := range items {
		it := &items[i]
		if it.Kind == transcript.ToolDefinition {
			p.tools = append(p.tools, piece{item: it, chain: chainOf(it.At)})
			continue
		}
		p.pieces = append(p.pieces, piece{item: it, chain: chainOf(it.At), unit: -1})
	}
	p.besideCalls()
	p.reasoning()
	p.join()
	p.readTexts()
	return p, nil
}

// elementOf returns the element of the conversation in which an item lies.
func elementOf(at string) string {
	member, index, ok := dialect.ElementAt(at)
	if !ok {
		return at
	}
	return "/" + member + "/" + strconv.Itoa(index)
}

// chainOf returns the pointers from that of an item up to its element, and the list of
// that if it is not the conversation: a list of tools may be missing, but not be empty.
func chainOf(at string) []string {
	var chain []string
	element := elementOf(at)
	for ; len(at) > len(element); at = at[:strings.LastIndexByte(at, '/')] {
		chain = append(chain, at)
	}
	chain = append(chain, element)
	if member, _, ok := dialect.ElementAt(element); ok && !dialect.IsHistory(member) {
		chain = append(chain, "/"+member)
	}
	return chain
}

// besideCalls sets apart what an answer of chat says beside its calls: both are the
// same message.
func (p *parts) besideCalls() {
	if p.api.Layout != dialect.Members {
		return
	}
	calls := map[string]bool{}
	for i := range p.pieces {
		if it := p.pieces[i].item; it.Kind == transcript.ToolCall {
			calls[elementOf(it.At)] = true
		}
	}
	for i := range p.pieces {
		it := p.pieces[i].item
		if it.Kind != transcript.MessageItem || !calls[it.At] {
			continue
		}
		if content, err := rawjson.Value(it.Raw, "/content"); err == nil && string(content) != "null" {
			p.pieces[i].chain = []string{it.At + "/content", it.At}
		}
	}
}

// reasoning finds what thoughts stay with: the rest of their message, or, where each
// item stands alone, what the model said and called behind them.
func (p *parts) reasoning() {
	for i := range p.pieces {
		if p.pieces[i].item.Kind != transcript.Reasoning {
			continue
		}
		element := elementOf(p.pieces[i].item.At)
		if p.api.Layout == dialect.Items {
			for k := i + 1; k < len(p.pieces) && saidByModel(p.pieces[k].item); k++ {
				if p.pieces[k].item.Kind != transcript.Reasoning {
					p.pieces[i].with = append(p.pieces[i].with, k)
				} else if len(p.pieces[i].with) > 0 {
					break
				}
			}
			continue
		}
		for k := range p.pieces {
			if p.pieces[k].item.Kind != transcript.Reasoning && elementOf(p.pieces[k].item.At) == element {
				p.pieces[i].with = append(p.pieces[i].with, k)
			}
		}
	}
}

// saidByModel reports whether an item of a request came from the model.
func saidByModel(it *transcript.Item) bool {
	switch it.Kind {
	case transcript.ToolCall, transcript.Reasoning:
		return true
	case transcript.ToolResult:
		return it.ServerSide
	case transcript.System:
		return false
	}
	return it.Role == "assistant"
}

// join makes units: a call and its results are one, and so is what the same pointer
// drops.
func (p *parts) join() {
	items := make([]transcript.Item, len(p.pieces))
	for i := range p.pieces {
		items[i] = *p.pieces[i].item
	}
	together := make([]int, len(items)) // the first piece of the unit
	for i := range together {
		together[i] = i
	}
	at := map[string]int{}
	for i := range p.pieces {
		own := p.pieces[i].chain[0]
		if p.api.Layout == dialect.Members && p.pieces[i].item.Kind == transcript.ToolCall {
			own = elementOf(own) // what is said beside it, if that has no pointer of its own
			if first, ok := at[own]; ok {
				together[i] = together[first]
			}
			continue
		}
		if first, ok := at[own]; ok {
			together[i] = together[first]
		} else {
			at[own] = i
		}
	}
	for _, m := range transcript.PairItems(items) {
		if m.Call >= 0 && m.Result >= 0 {
			together[m.Result] = together[m.Call]
		}
	}
	unit := map[int]int{}
	for i := range p.pieces {
		if len(p.pieces[i].with) > 0 {
			continue
		}
		n, ok := unit[together[i]]
		if !ok {
			n = len(p.units)
			unit[together[i]], p.units = n, append(p.units, nil)
		}
		p.pieces[i].unit, p.units[n] = n, append(p.units[n], i)
	}
}

// candidate is a request with some of its parts.
type candidate struct {
	units []bool
	lines [][]bool // of each text
	tools []bool
}

// all keeps everything.
func (p *parts) all() *candidate {
	c := &candidate{units: yes(len(p.units)), tools: yes(len(p.tools))}
	for i := range p.texts {
		c.lines = append(c.lines, yes(len(p.texts[i].lines)))
	}
	return c
}

func yes(n int) []bool { return slices.Repeat([]bool{true}, n) }

func (c *candidate) clone() *candidate {
	own := &candidate{units: slices.Clone(c.units), tools: slices.Clone(c.tools)}
	for _, l := range c.lines {
		own.lines = append(own.lines, slices.Clone(l))
	}
	return own
}

// kept returns for each piece whether it stays.
func (p *parts) kept(c *candidate) []bool {
	kept := make([]bool, len(p.pieces))
	for i := range p.pieces {
		kept[i] = p.pieces[i].unit >= 0 && c.units[p.pieces[i].unit]
	}
	for i := range p.pieces {
		for _, k := range p.pieces[i].with {
			kept[i] = kept[i] || kept[k]
		}
	}
	return kept
}
