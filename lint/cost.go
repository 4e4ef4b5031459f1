package lint

import (
	"errors"
	"strconv"
	"strings"

	"github.com/retake-debugger/retake/rawjson"
)

var errReference = errors.New("a reference that is not followed")

// schemaCost estimates how many schemas a value is checked against. allOf, $ref and
// the like check one value against several, and nesting multiplies that.
type schemaCost struct {
	root  any
	known map[costKey]float64
	open  map[costKey]bool
}

type costKey struct {
	pointer string // of the schema in the document
	depth   int    // of the value
}

// newCost reads a schema. It fails if the schema refers to anything outside itself:
// the cost of a reference that is not followed is unknown.
func newCost(doc any) (schemaCost, error) {
	if err := localReferences(doc); err != nil {
		return schemaCost{}, err
	}
	return schemaCost{doc, map[costKey]float64{}, map[costKey]bool{}}, nil
}

func localReferences(v any) error {
	switch v := v.(type) {
	case map[string]any:
		for name, e := range v {
			switch ref, isText := e.(string); {
			case !isText:
				if err := localReferences(e); err != nil {
					return err
				}
			case name == "$ref" && (ref != "#" && !strings.HasPrefix(ref, "#/") || strings.Contains(ref, "%")),
				name == "$dynamicRef", name == "$recursiveRef", name == "$id" && ref != "", name == "id" && strings.Contains(ref, "/"),
				name == "$schema" && !strings.Contains(ref, "json-schema.org"):
				return errReference
			}
		}
	case []any:
		for _, e := range v {
			if err := localReferences(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// of returns about how often a value of that depth, with all that is in it, is
// checked against a schema.
func (c schemaCost) of(depth int) float64 { return c.at("", depth) }

func (c schemaCost) at(pointer string, depth int) float64 {
	key := costKey{pointer, depth}
	if n, ok := c.known[key]; ok {
		return n
	}
	if c.open[key] || len(c.open) > 10_000 || len(c.known) > 200_000 { // a cycle that gets no deeper, or too large
		return maxWork + 1
	}
	c.open[key] = true
	n := c.sum(pointer, depth)
	delete(c.open, key)
	n = min(n, maxWork+1)
	c.known[key] = n
	return n
}

func (c schemaCost) sum(pointer string, depth int) float64 {
	schema, ok := c.lookup(pointer).(map[string]any)
	n := 1.0
	if !ok {
		return n
	}
	for name, v := range schema {
		at := pointer + "/" + rawjson.EscapeToken(name)
		switch name {
		case "$ref":
			ref, _ := v.(string)
			n += c.at(strings.TrimPrefix(ref, "#"), depth)
		case "allOf", "anyOf", "oneOf":
			n += c.list(at, v, depth)
		case "not", "if", "then", "else":
			n += c.at(at, depth)
		case "dependentSchemas", "dependencies":
			n += c.named(at, v, depth)
		case "properties", "patternProperties":
			if depth > 1 {
				n += c.named(at, v, depth-1)
			}
		case "items", "additionalProperties", "additionalItems", "unevaluatedProperties", "unevaluatedItems", "contains", "propertyNames", "prefixItems":
			if depth > 1 {
				n += c.list(at, v, depth-1)
			}
		}
		if n > maxWork {
			break
		}
	}
	return n
}

func (c schemaCost) list(pointer string, v any, depth int) float64 {
	list, ok := v.([]any)
	if !ok {
		return c.at(pointer, depth)
	}
	n := 0.0
	for i := range list {
		n += c.at(pointer+"/"+strconv.Itoa(i), depth)
	}
	return n
}

func (c schemaCost) named(pointer string, v any, depth int) float64 {
	n := 0.0
	if schemas, ok := v.(map[string]any); ok {
		for name := range schemas {
			n += c.at(pointer+"/"+rawjson.EscapeToken(name), depth)
		}
	}
	return n
}

func (c schemaCost) lookup(pointer string) any {
	steps, err := rawjson.Tokens(pointer)
	if err != nil {
		return nil
	}
	v := c.root
	for _, step := range steps {
		switch inner := v.(type) {
		case map[string]any:
			v = inner[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(inner) {
				return nil
			}
			v = inner[i]
		default:
			return nil
		}
	}
	return v
}
