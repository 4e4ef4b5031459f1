package replay

import (
	"fmt"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/retake-debugger/retake/analysis"
	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/rawjson"
)

// applyPatch makes the changes of a JSON Patch (RFC 6902). The library reads it; the
// changes are spliced, since the library would rewrite the whole body.
func applyPatch(body, patch []byte) ([]byte, error) {
	operations, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, fmt.Errorf("%w: read patch: %w", ErrEdit, err)
	}
	for i, op := range operations {
		out, err := patchOne(body, op)
		if err != nil {
			return nil, fmt.Errorf("%w: operation %d: %w", ErrEdit, i+1, err)
		}
		if body = out; len(body) > history.MaxBody { // copies can double it again and again
			return nil, fmt.Errorf("%w: operation %d: the request would have more than %d bytes", ErrEdit, i+1, history.MaxBody)
		}
	}
	return body, nil
}

func patchOne(body []byte, op jsonpatch.Operation) ([]byte, error) {
	path, err := op.Path()
	if err != nil {
		return nil, err
	}
	var value []byte
	switch kind := op.Kind(); kind {
	case "remove":
		return rawjson.Apply(body, rawjson.Edit{Op: rawjson.Delete, At: path})
	case "add", "replace", "test":
		raw, ok := op["value"]
		if !ok {
			return nil, fmt.Errorf("%s %s: no value", kind, path)
		}
		value = []byte("null") // how the library reads a null
		if raw != nil {
			value = *raw
		}
	}
	switch kind := op.Kind(); kind {
	case "add":
		return add(body, path, value)
	case "replace":
		return rawjson.Apply(body, rawjson.Edit{Op: rawjson.Replace, At: path, Value: value})
	case "test":
		return body, test(body, path, value)
	case "move", "copy":
		from, err := op.From()
		if err != nil {
			return nil, err
		}
		return moveOrCopy(body, kind, from, path)
	default:
		return nil, fmt.Errorf("no such operation: %q", kind)
	}
}

func add(body []byte, path string, value []byte) ([]byte, error) {
	op := rawjson.Insert
	if path == "" {
		op = rawjson.Replace
	}
	return rawjson.Apply(body, rawjson.Edit{Op: op, At: path, Value: value})
}

func test(body []byte, path string, value []byte) error {
	now, err := rawjson.Value(body, path)
	if err != nil {
		return err
	}
	if differ, ok := analysis.DiffJSON(now, value); !ok || len(differ) > 0 {
		return fmt.Errorf("test %s: another value stands there", path)
	}
	return nil
}

func moveOrCopy(body []byte, kind, from, path string) ([]byte, error) {
	value, err := rawjson.Value(body, from)
	if err != nil {
		return nil, err
	}
	if kind == "copy" {
		return add(body, path, value)
	}
	if from == path {
		return body, nil
	}
	if strings.HasPrefix(path, from+"/") {
		return nil, fmt.Errorf("move %s: not into itself", from)
	}
	if body, err = rawjson.Apply(body, rawjson.Edit{Op: rawjson.Delete, At: from}); err != nil {
		return nil, err
	}
	return add(body, path, value)
}
