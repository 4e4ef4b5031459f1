package minimise

import (
	"fmt"
	"slices"

	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/replay"
)

// Candidate is what a minimisation makes of a request that keeps some of its parts.
type Candidate struct {
	Body   []byte
	Errors []lint.Finding // that the whole request does not have
}

// Taken is a request taken apart.
type Taken struct {
	parts *parts
	req   *replay.Request
}

// TakeApart takes a request apart.
func TakeApart(req *replay.Request) (Taken, error) {
	parts, err := readParts(req)
	return Taken{parts, req}, err
}

// Units counts its items as they are left out, Lines and Tools the rest.
func (a Taken) Units() int { return len(a.parts.units) }
func (a Taken) Lines() (n int) {
	for i := range a.parts.texts {
		n += len(a.parts.texts[i].lines)
	}
	return n
}
func (a Taken) Tools() int { return len(a.parts.tools) }

// Keep makes a candidate of the parts that keep keeps, by the number of each.
func (a Taken) Keep(keep func(part Part, i int) bool) (*Candidate, error) {
	c := a.parts.all()
	for _, part := range []Part{Items, Lines, Tools} {
		for i, flag := range c.flags(part) {
			*flag = keep(part, i)
		}
	}
	c = a.parts.complete(c)
	edits, err := a.parts.edits(c)
	if err != nil {
		return nil, err
	}
	body, err := a.parts.build(edits)
	if err != nil {
		return nil, err
	}
	one, err := replay.Apply(a.parts.speaks, a.parts.body, slices.Clone(edits))
	if err != nil || string(one) != string(body) {
		return nil, fmt.Errorf("edit by edit it is %.2000s (%w)", one, err)
	}
	req, err := a.req.With(edits, body)
	if err != nil {
		return nil, err
	}
	return &Candidate{body, req.NewErrors()}, nil
}
