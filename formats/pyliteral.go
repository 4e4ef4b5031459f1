package formats

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// pythonLiteral returns a value as Python source: JSON except for true, false and
// null.
func pythonLiteral(v any) ([]byte, error) {
	text, err := indented(v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var out strings.Builder
	if err := pythonValue(d, &out, ""); err != nil {
		return nil, fmt.Errorf("write python: %w", err)
	}
	return []byte(out.String()), nil
}

func pythonValue(d *json.Decoder, out *strings.Builder, indent string) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	switch t := t.(type) {
	case json.Delim:
		return pythonList(d, out, indent, t)
	case bool:
		out.WriteString(map[bool]string{true: "True", false: "False"}[t])
	case nil:
		out.WriteString("None")
	case json.Number:
		out.WriteString(t.String())
	case string:
		out.WriteString(pythonString(t))
	}
	return nil
}

// pythonList writes a list or an object after its opening bracket.
func pythonList(d *json.Decoder, out *strings.Builder, indent string, open json.Delim) error {
	out.WriteString(open.String())
	inner := indent + "    "
	for first := true; d.More(); first = false {
		if !first {
			out.WriteByte(',')
		}
		out.WriteString("\n" + inner)
		if open == '{' {
			name, err := d.Token()
			if err != nil {
				return err
			}
			out.WriteString(pythonString(fmt.Sprint(name)) + ": ")
		}
		if err := pythonValue(d, out, inner); err != nil {
			return err
		}
	}
	end, err := d.Token()
	if err != nil {
		return err
	}
	if !strings.HasSuffix(out.String()[max(0, out.Len()-1):], open.String()) {
		out.WriteString(",\n" + indent)
	}
	fmt.Fprint(out, end)
	return nil
}

// pythonString quotes a text. Python has the escapes of JSON except for surrogate
// pairs, which are not used here.
func pythonString(s string) string {
	text, err := line(s)
	if err != nil {
		return `""`
	}
	return strings.ReplaceAll(string(text), "\x7f", `\x7f`)
}
