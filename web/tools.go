package web

import (
	"errors"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

const (
	toolRuns  = 20      // runs read for the page of one tool or of all tools
	toolBytes = 4 << 20 // bytes of these on the page of all tools
)

// toolsPage lists the tools that were called, or shows one of them.
type toolsPage struct {
	layout
	S     *view.Stats
	Whole bool
	Seen  *view.Tools // what the newest runs contain
	T     *toolView
}

// toolView is one tool as its page shows it.
type toolView struct {
	*view.Tool
	Shapes   []shapeView
	Examples []exampleView
}

type shapeView struct {
	view.Shape
	Href string
}

// exampleView is a call with its result.
type exampleView struct {
	C         view.ToolCall
	Href      string
	Arguments value
	Result    value
}

func (s *server) tools(c *gin.Context) {
	name := c.Query("name")
	p := &toolsPage{layout: layout{Title: "Tools"}}
	if name == "" {
		v, err := s.statsOf(c)
		if err != nil {
			s.failed(c, err)
			return
		}
		p.S, p.Whole = v, v.Total.Exchanges < statsOver || c.Query("all") != ""
		if p.Seen, err = view.NewTools(c.Request.Context(), s.reader, toolRuns, toolBytes, s.now()); err != nil {
			s.failed(c, err)
			return
		}
		s.show(c, http.StatusOK, "tools-page", p)
		return
	}
	t, err := view.NewTool(c.Request.Context(), s.reader, name, toolRuns, s.now())
	if errors.Is(err, transcript.ErrNotFound) {
		s.fail(c, http.StatusNotFound, "No recorded answer called a tool of that name.")
		return
	}
	if err != nil {
		s.failed(c, err)
		return
	}
	p.Title, p.T = oneLine(name, 60)+" · Tools", newToolView(t)
	s.show(c, http.StatusOK, "tools-page", p)
}

func newToolView(t *view.Tool) *toolView {
	v := &toolView{Tool: t}
	b := newBudget()
	for _, shape := range t.Shapes {
		v.Shapes = append(v.Shapes, shapeView{shape, callURL(&shape.Example.Call)})
	}
	for _, e := range t.Examples {
		x := exampleView{C: e, Href: callURL(&e.Call), Arguments: b.data(e.Arguments, "", moderate)}
		if e.Result != nil {
			x.Result = b.data(*e.Result, "", moderate)
		}
		v.Examples = append(v.Examples, x)
	}
	return v
}

// callURL returns the address of a call on the page of its exchange.
func callURL(c *view.Call) string { return itemPageURL(c.Exchange, c.At) }

// apiCalls returns the calls of a run, a step or an exchange: ?ref=r12 ?tool= ?id=
// ?errors=1.
func (s *server) apiCalls(c *gin.Context) {
	targets, err := s.locate(c, []string{c.Query("ref")})
	if err != nil {
		s.failed(c, err)
		return
	}
	list, err := s.callsOf(c, targets[0])
	if err != nil {
		s.failed(c, err)
		return
	}
	f := view.CallFilter{Tool: strings.TrimSpace(c.Query("tool")), ID: c.Query("id"), Errors: c.Query("errors") != ""}
	shown := []view.Call{}
	for i := range list {
		if f.Takes(&list[i]) {
			shown = append(shown, list[i])
		}
	}
	s.json(c, http.StatusOK, shown)
}

func (s *server) callsOf(c *gin.Context, t *view.Target) ([]view.Call, error) {
	if t.Exchange != nil {
		return view.ExchangeCalls(c.Request.Context(), s.reader, t.Exchange)
	}
	run, err := t.View(c.Request.Context(), s.reader, s.now())
	if err != nil {
		return nil, err
	}
	return run.Calls(c.Request.Context(), s.reader)
}
