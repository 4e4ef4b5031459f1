package lint

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// Limits on what is checked: a schema comes from a client and arguments from a model,
// and neither may cause unlimited work.
const (
	maxSchema    = 256 << 10
	maxArguments = 1 << 20
	maxDepth     = 100
	maxExponent  = 300
	maxWork      = 300_000 // schemas applied to values
)

var errNotChecked = errors.New("not checked")

// schemas holds the compiled schemas of tools.
type schemas struct {
	byTool map[*transcript.Item]*toolSchema // usually the same item
	byText map[string]*toolSchema
}

// toolSchema is a compiled schema. compiled is nil if the schema cannot be compiled
// or is over a limit.
type toolSchema struct {
	compiled *jsonschema.Schema
	cost     schemaCost
}

// mismatch returns how arguments do not fit a tool, "" if they fit or that is
// unknown.
func (s *schemas) mismatch(tool *transcript.Item, arguments string) string {
	if tool == nil || len(arguments) > maxArguments {
		return ""
	}
	schema := s.of(tool)
	if schema.compiled == nil {
		return ""
	}
	v, err := rawjson.Decode([]byte(arguments))
	if err != nil {
		return ""
	}
	size, depth, ok := measure(v, maxDepth)
	if !ok || schema.cost.of(depth)*float64(size) > maxWork {
		return ""
	}
	var invalid *jsonschema.ValidationError
	if err := schema.compiled.Validate(v); !errors.As(err, &invalid) {
		return ""
	}
	return explain(invalid)
}

func (s *schemas) of(tool *transcript.Item) *toolSchema {
	if known := s.byTool[tool]; known != nil {
		return known
	}
	if s.byText == nil {
		s.byText = map[string]*toolSchema{}
	}
	known := s.byText[string(tool.Raw)]
	if known == nil {
		known = compile(parametersOf(tool.Raw))
		s.byText[string(tool.Raw)] = known
	}
	if s.byTool == nil || len(s.byTool) > 1000 {
		s.byTool = map[*transcript.Item]*toolSchema{}
	}
	s.byTool[tool] = known
	return known
}

// parametersOf returns the schema that a tool declares, in any API.
func parametersOf(raw []byte) []byte {
	for _, path := range [...][]string{{"function", "parameters"}, {"input_schema"}, {"parameters"}} {
		if v := rawjson.Get(raw, path...); rawjson.IsObject(v) {
			return v
		}
	}
	return nil
}

// compile compiles a schema. It follows references only within the schema and never
// fetches anything.
func compile(raw []byte) *toolSchema {
	if len(raw) == 0 || len(raw) > maxSchema {
		return &toolSchema{}
	}
	doc, err := rawjson.Decode(raw)
	if err != nil {
		return &toolSchema{}
	}
	if _, _, ok := measure(doc, maxDepth); !ok {
		return &toolSchema{}
	}
	cost, err := newCost(doc)
	if err != nil || cost.of(1) > maxWork {
		return &toolSchema{}
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	const name = "tool.json"
	if c.AddResource(name, doc) != nil {
		return &toolSchema{}
	}
	compiled, err := c.Compile(name)
	if err != nil {
		return &toolSchema{}
	}
	return &toolSchema{compiled, cost}
}

// noLoader refuses to load references.
type noLoader struct{}

func (noLoader) Load(string) (any, error) { return nil, errNotChecked }

// measure counts the values in v and how deep they are nested. ok is false if they
// are nested too deep or a number is too large.
func measure(v any, room int) (size, depth int, ok bool) {
	if room == 0 {
		return 0, 0, false
	}
	size = 1
	inner := func(e any) bool {
		n, d, ok := measure(e, room-1)
		size, depth = size+n, max(depth, d)
		return ok
	}
	switch v := v.(type) {
	case json.Number:
		if f, err := v.Float64(); err != nil || len(v) > maxExponent || f != 0 && math.Abs(math.Log10(math.Abs(f))) > maxExponent || f == 0 && strings.ContainsAny(string(v), "eE") {
			return 0, 0, false
		}
	case map[string]any:
		for _, e := range v {
			if !inner(e) {
				return 0, 0, false
			}
		}
	case []any:
		for _, e := range v {
			if !inner(e) {
				return 0, 0, false
			}
		}
	}
	return size, depth + 1, true
}

// explain returns the first mismatch and where it is.
func explain(e *jsonschema.ValidationError) string {
	for len(e.Causes) > 0 {
		e = e.Causes[0]
	}
	at := ""
	for _, step := range e.InstanceLocation {
		at += "/" + step
	}
	why := e.ErrorKind.LocalizedString(message.NewPrinter(language.English))
	if r := []rune(why); len(r) > 200 {
		why = string(r[:200]) + "…"
	}
	if at == "" {
		return why
	}
	return fmt.Sprintf("at %s %s", dialect.Quoted(at), why)
}
