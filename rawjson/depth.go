package rawjson

import (
	"encoding/json"
	"reflect"
)

// deepest is how deep a value may be nested in JSON for other programs. Python's
// reader gives up at about 1,000 levels, and a value stands inside a document.
const deepest = 500

// Depth returns how many arrays and objects of a JSON value lie inside each other.
func Depth(v []byte) int {
	depth, most := 0, 0
	for i := 0; i < len(v); i++ {
		switch v[i] {
		case '"':
			end := SkipString(v, i)
			if end < 0 {
				return most
			}
			i = end - 1
		case '{', '[':
			depth++
			most = max(most, depth)
		case '}', ']':
			depth--
		}
	}
	return most
}

// Shallow returns v for encoding/json, which refuses values that are nested deeper
// than 10,000 levels, as other readers do much sooner. Each json.RawMessage in v
// that is nested deeper than 500 levels becomes a string that holds its text. v is
// not changed: what has to be replaced is copied.
func Shallow(v any) any {
	if out, changed := shallow(reflect.ValueOf(v)); changed {
		return out.Interface()
	}
	return v
}

func shallow(v reflect.Value) (out reflect.Value, changed bool) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return v, false
		}
		e, changed := shallow(v.Elem())
		if !changed || v.Kind() == reflect.Interface {
			return e, changed
		}
		p := reflect.New(v.Type().Elem())
		p.Elem().Set(e)
		return p, true
	case reflect.Struct:
		return shallowStruct(v)
	case reflect.Slice, reflect.Array:
		return shallowList(v)
	case reflect.Map:
		return shallowMap(v)
	}
	return v, false
}

func shallowStruct(v reflect.Value) (out reflect.Value, changed bool) {
	out = v
	for i := range v.NumField() {
		if f := v.Type().Field(i); !f.IsExported() {
			continue
		}
		e, c := shallow(v.Field(i))
		if !c {
			continue
		}
		if !changed {
			out = reflect.New(v.Type()).Elem()
			out.Set(v)
			changed = true
		}
		out.Field(i).Set(e)
	}
	return out, changed
}

func shallowList(v reflect.Value) (out reflect.Value, changed bool) {
	if raw, ok := reflect.TypeAssert[json.RawMessage](v); ok {
		if len(raw) <= 2*deepest || Depth(raw) <= deepest {
			return v, false
		}
		return reflect.ValueOf(json.RawMessage(Quote(string(raw)))), true
	}
	out = v
	if k := v.Type().Elem().Kind(); k < reflect.Array || k == reflect.String {
		return v, false // of numbers or texts
	}
	for i := range v.Len() {
		e, c := shallow(v.Index(i))
		if !c {
			continue
		}
		if !changed {
			out = reflect.New(v.Type()).Elem()
			if v.Kind() == reflect.Slice {
				out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			}
			reflect.Copy(out, v)
			changed = true
		}
		out.Index(i).Set(e)
	}
	return out, changed
}

func shallowMap(v reflect.Value) (out reflect.Value, changed bool) {
	out = v
	for each := v.MapRange(); each.Next(); {
		e, c := shallow(each.Value())
		if !c {
			continue
		}
		if !changed {
			out = reflect.MakeMapWithSize(v.Type(), v.Len())
			for all := v.MapRange(); all.Next(); {
				out.SetMapIndex(all.Key(), all.Value())
			}
			changed = true
		}
		out.SetMapIndex(each.Key(), e)
	}
	return out, changed
}
