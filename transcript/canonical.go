package transcript

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
)

// HashJSON hashes a JSON value of an API by its meaning: white space, key
// order, cache marks, what is encrypted anew each time, members that are null,
// how a number is written, and whether names are in camel or snake case do not
// count. What is not JSON is hashed as it is.
func HashJSON(raw []byte) string { return hashJSON(raw, canonical{api: true}) }

// hashOther is HashJSON for an item of an unknown kind: its own id and status,
// which the provider mints, do not count.
func hashOther(raw []byte) string { return hashJSON(raw, canonical{api: true, item: true}) }

func hashJSON(raw []byte, as canonical) string {
	c, err := as.of(raw)
	if err != nil {
		c = raw
	}
	sum := sha256.Sum256(c)
	return hex.EncodeToString(sum[:])
}

// Canonical writes a JSON value with sorted keys, without white space and with
// numbers in one form, so that values that are equal are equal bytes. Nothing
// is left out: it is what a tool's arguments mean.
func Canonical(raw []byte) ([]byte, error) { return canonical{}.of(raw) }

// canonical says what is left out beside what never means anything.
type canonical struct {
	api  bool // the value is a part of an API's request: see HashJSON
	item bool // and a whole item: see hashOther
}

func (c canonical) of(raw []byte) ([]byte, error) {
	short, long := putAside(raw)
	out, err := c.whole(short)
	return long.putBack(out), err
}

func (c canonical) whole(raw []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errTrailing
	}
	var out bytes.Buffer
	err := c.write(&out, v)
	return out.Bytes(), err
}

func (c canonical) write(out *bytes.Buffer, v any) error {
	switch v := v.(type) {
	case map[string]any:
		return c.object(out, v)
	case []any:
		out.WriteByte('[')
		inner := canonical{api: c.api}
		for i, e := range v {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := inner.write(out, e); err != nil {
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

func (c canonical) object(out *bytes.Buffer, v map[string]any) error {
	type member struct {
		name, spelled string
		value         any
	}
	members := make([]member, 0, len(v))
	for spelled, value := range v {
		name := spelled
		if c.api {
			name = snake(name)
		}
		if !c.leavesOut(name, value, v) {
			members = append(members, member{name, spelled, value})
		}
	}
	slices.SortFunc(members, func(a, b member) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.spelled, b.spelled)) })
	inner := canonical{api: c.api}
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
		if err := inner.write(out, m.value); err != nil {
			return err
		}
	}
	out.WriteByte('}')
	return nil
}

func (c canonical) leavesOut(name string, value any, of map[string]any) bool {
	switch {
	case !c.api:
		return false
	case name == "cache_control" || name == "encrypted_content" || value == nil:
		return true
	case !c.item:
		return false
	}
	// An item_reference is nothing but an id.
	return name == "status" || name == "id" && of["type"] != "item_reference" && len(of) > 1
}

// snake writes a name in snake case.
func snake(name string) string {
	if strings.IndexFunc(name, func(r rune) bool { return r >= 'A' && r <= 'Z' }) < 0 {
		return name
	}
	var b strings.Builder
	for i, r := range name {
		if r >= 'A' && r <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// canonicalNumber writes a JSON number as its digits without zeros at either
// end and a power of ten, so that 1.50, 1.5 and 15e-1 are the same. No digit is
// rounded away. What has an absurd exponent stays as it is.
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
