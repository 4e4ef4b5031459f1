package api

import (
	"errors"
	"fmt"

	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// Growing is a request that is gone on from again and again. It gives what Continue
// would, and reads the request only once, however long it gets.
type Growing struct {
	apis  List
	d     transcript.Dialect
	body  []byte
	end   int    // behind the last element of the list that grows; 0: it was not found yet
	comma []byte // what goes before a further element
	own   bool   // nobody but Growing has made body
}

// NewGrowing begins with a request body, which must not be changed any more.
func (l List) NewGrowing(d transcript.Dialect, body []byte) *Growing {
	return &Growing{apis: l, d: d, body: body}
}

// Body is the request as it has grown so far.
func (g *Growing) Body() []byte { return g.body }

// Continue appends an answer and the results of its calls, as the function of that
// name does, and gives the body. over says that nobody reads the one before any more:
// then it is made where that lies. Earlier ones stay as they are otherwise.
func (g *Growing) Continue(response []byte, results []Result, over bool) ([]byte, error) {
	if g.end == 0 {
		body, err := g.apis.Continue(g.d, g.body, response, results)
		if err == nil {
			g.body = body
			g.find()
		}
		return body, err
	}
	if !rawjson.Valid(response) {
		return nil, errors.New("continue request: the answer is not JSON")
	}
	elements, err := g.apis.Of(g.d).Append(response[rawjson.SkipSpace(response, 0):], results)
	if err != nil {
		return nil, fmt.Errorf("continue request: %w", err)
	}
	more := 0
	for _, e := range elements {
		more += len(g.comma) + len(e)
	}
	g.widen(more, over)
	for _, e := range elements {
		g.end += copy(g.body[g.end:], g.comma)
		g.end += copy(g.body[g.end:], e)
	}
	return g.body, nil
}

// widen makes room behind the last element.
func (g *Growing) widen(more int, over bool) {
	n := len(g.body) + more
	if body := g.body; !over || !g.own || cap(body) < n {
		g.body, g.own = append(make([]byte, 0, n+n/2), body...), true
	}
	rest := g.body[g.end:]
	g.body = g.body[:n]
	copy(g.body[g.end+more:], rest)
}

// find finds the end of the list that grows. It stays unknown where the request
// leaves its history to the server, or is no object.
func (g *Growing) find() {
	a := g.apis.Of(g.d)
	if Held(a.Held, g.body[rawjson.SkipSpace(g.body, 0):]) {
		return
	}
	at, err := rawjson.Locate(g.body, "/"+a.History())
	if err != nil || g.body[at.Start] != '[' {
		return
	}
	if end, comma := rawjson.Tail(g.body, at); comma != nil {
		g.end, g.comma = end, comma
	}
}
