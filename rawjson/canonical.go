package rawjson

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
)

var errTrailing = errors.New("more than one JSON value")

// Decode decodes one JSON value. Numbers are json.Number, so that they keep their
// digits.
func Decode(raw []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errTrailing
	}
	return v, nil
}

// Canonical returns a JSON value with sorted keys, without white space and with each
// number in one form: values that are equal become equal bytes.
func Canonical(raw []byte) ([]byte, error) { return Form{}.Of(raw) }

// CanonicalText is Canonical for a value that Decode returned.
func CanonicalText(v any) (string, error) {
	var out bytes.Buffer
	err := Form{}.write(&out, v, true)
	return out.String(), err
}

// Form is a canonical form that compares values by less than all they say.
type Form struct {
	Name func(name string) string // returns how a member's name is written; nil for as it is
	// Omit reports whether a member is left out. in is its object as it was decoded,
	// top that this is the whole value. nil leaves nothing out.
	Omit func(name string, value any, in map[string]any, top bool) bool
}

// Of returns a JSON value in this form.
func (f Form) Of(raw []byte) ([]byte, error) {
	short, long := putAside(raw)
	out, err := f.whole(short)
	return long.putBack(out), err
}

func (f Form) whole(raw []byte) ([]byte, error) {
	v, err := Decode(raw)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = f.write(&out, v, true)
	return out.Bytes(), err
}

func (f Form) write(out *bytes.Buffer, v any, top bool) error {
	switch v := v.(type) {
	case map[string]any:
		return f.object(out, v, top)
	case []any:
		out.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := f.write(out, e, false); err != nil {
				return err
			}
		}
		out.WriteByte(']')
	case json.Number:
		out.WriteString(canonicalNumber(string(v)))
	default:
		b, err := json.Marshal(v)
		if err != nil {
			return err
		}
		out.Write(b)
	}
	return nil
}

func (f Form) object(out *bytes.Buffer, v map[string]any, top bool) error {
	type member struct {
		name, spelled string
		value         any
	}
	members := make([]member, 0, len(v))
	for spelled, value := range v {
		name := spelled
		if f.Name != nil {
			name = f.Name(name)
		}
		if f.Omit == nil || !f.Omit(name, value, v, top) {
			members = append(members, member{name, spelled, value})
		}
	}
	slices.SortFunc(members, func(a, b member) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.spelled, b.spelled)) })
	out.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			out.WriteByte(',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return err
		}
		out.Write(name)
		out.WriteByte(':')
		if err := f.write(out, m.value, false); err != nil {
			return err
		}
	}
	out.WriteByte('}')
	return nil
}

// canonicalNumber returns a JSON number as its digits without zeros at either end
// and a power of ten, so that 1.50, 1.5 and 15e-1 are the same. No digit is rounded
// away. A number whose exponent does not fit an int stays as it is.
func canonicalNumber(s string) string {
	digits, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	power := 0
	if exponent != "" {
		n, err := strconv.Atoi(exponent)
		if err != nil {
			return s
		}
		power = n
	}
	digits, minus := strings.CutPrefix(digits, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	digits = strings.TrimLeft(whole+fraction, "0")
	power -= len(fraction)
	short := strings.TrimRight(digits, "0")
	power += len(digits) - len(short)
	if short == "" {
		return "0"
	}
	if minus {
		short = "-" + short
	}
	if power == 0 {
		return short
	}
	return short + "e" + strconv.Itoa(power)
}
