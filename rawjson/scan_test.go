package rawjson

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"testing"
)

var jsonSeeds = []string{
	``, ` `, `null`, `true`, `fals`, `0`, `-1.5e+9`, `01`, `-`, `1.`, `1e`, `"a"`, `"a`, `"\u12"`, `"\ud83d\ude00"`, `"\ud83d`, `"\x"`,
	`"é🎉"`, "\"\xff\"", "\"\x01\"", `[]`, `[ ]`, `[1,]`, `[1,2`, `[1 2]`, `{}`, `{"a":1}`, `{"a":1,}`, `{"a"}`, `{"a":`, `{"a":[{"b":"c\"d`,
	`{"a":1}x`, `{"a":{"b":[1,{"c":null}]},"d":"\\"}`, `[[[[]]]]`, `{"\u0061":1,"a":2}`, `{"a":[1,2},"b":3]`, "\t{ \"a\" : [ 1 , \"x\" ] }\n", `"aaaaaaaaaaaaaaaaaaaa\n"`,
}

func TestValid_TakesAnyDepth(t *testing.T) {
	for _, n := range []int{10000, 10001, 1 << 20} {
		b := []byte(strings.Repeat("[", n) + strings.Repeat("]", n))
		if !Valid(b) || Valid(b[:len(b)-1]) {
			t.Errorf("%d deep: %v, and %v without its last bracket", n, Valid(b), Valid(b[:len(b)-1]))
		}
		if v, whole, rest := Mend(b[:len(b)-1]); whole || rest != 0 || !bytes.Equal(v, b) {
			t.Errorf("%d deep: not mended", n)
		}
	}
}

func FuzzValid(f *testing.F) {
	for _, s := range jsonSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, want := Valid(b), json.Valid(b); got != want && Depth(b) < 10_000 {
			t.Fatalf("valid(%q) = %v", b, got)
		}
	})
}

// FuzzScan holds the trusting scanner against encoding/json where the input
// is JSON, and to its bounds where it is not.
func FuzzScan(f *testing.F) {
	for _, s := range jsonSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if end := Skip(b, 0); end > len(b) || end == 0 && len(b) > 0 {
			t.Fatalf("skip(%q) = %d", b, end)
		}
		for c := Walk(b); c.Next(); {
			_ = Scalar(c.Value())
			if c.Object {
				_ = c.Key()
			}
		}
		if !json.Valid(b) {
			return
		}
		b = bytes.TrimSpace(b)
		if end := Skip(b, 0); end != len(b) {
			t.Fatalf("skip(%q) = %d", b, end)
		}
		var want, got any
		decode(t, b, &want)
		got = anyOf(b)
		if !reflect.DeepEqual(want, got) {
			t.Fatalf("%q reads as %v, want %v", b, got, want)
		}
	})
}

func decode(t *testing.T, b []byte, v any) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(v); err != nil && err != io.EOF {
		t.Fatal(err)
	}
}

// anyOf reads a value with the scanner the way encoding/json does.
func anyOf(v []byte) any {
	switch v[0] {
	case '{':
		m := map[string]any{}
		for c := Walk(v); c.Next(); {
			m[string([]rune(string(c.Key())))] = anyOf(c.Value()) // a key keeps bytes that are no UTF-8
		}
		return m
	case '[':
		a := []any{}
		for c := Walk(v); c.Next(); {
			a = append(a, anyOf(c.Value()))
		}
		return a
	case '"':
		return Unquote(v)
	case 't', 'f':
		return v[0] == 't'
	case 'n':
		return nil
	}
	return json.Number(v)
}

// FuzzMend: what is mended is JSON, begins as the input does, and is the input
// itself if that was whole.
func FuzzMend(f *testing.F) {
	for _, s := range jsonSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, whole, rest := Mend(b)
		if v == nil {
			if json.Valid(b) {
				t.Fatalf("mend(%q) gives nothing", b)
			}
			return
		}
		if !json.Valid(v) {
			t.Fatalf("mend(%q) = %q", b, v)
		}
		if rest < 0 || rest > len(b) || json.Valid(b) != (whole && rest == 0) {
			t.Fatalf("mend(%q): whole %v, rest %d", b, whole, rest)
		}
	})
}

func TestMend_ReadsUpToTheCut(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":1,"b":"x`:             `{"a":1,"b":"x"}`,
		`{"a":1,"b`:                 `{"a":1}`,
		`{"a":12`:                   `{}`,
		`{"a":12,`:                  `{"a":12}`,
		`[{"a":[1,2,{"b":tr`:        `[{"a":[1,2,{}]}]`,
		`{"a":"\ud83d\ude`:          `{"a":""}`,
		`{"a":"x\u00e`:              `{"a":"x"}`,
		"{\"a\":\"x\xe4\xbd":        `{"a":"x"}`,
		` {"a":[] } tail`:           `{"a":[] }`,
		`{"a":{"b":1},"c":nul`:      `{"a":{"b":1}}`,
		`{"a":"one","b":@,"c":"x"}`: `{"a":"one"}`,
	} {
		if got, _, _ := Mend([]byte(in)); string(got) != want {
			t.Errorf("mend(%s) = %s, want %s", in, got, want)
		}
	}
}

func FuzzQuote(f *testing.F) {
	f.Add("a\"\\\n\x01é\u2028<>&")
	f.Add("\xff\xc0")
	f.Fuzz(func(t *testing.T, s string) {
		var got string
		if err := json.Unmarshal(Quote(s), &got); err != nil {
			t.Fatal(err)
		}
		if want := strings.ToValidUTF8(s, "\uFFFD"); strings.ToValidUTF8(got, "") != got || len([]rune(s)) != len([]rune(got)) && want != got {
			t.Fatalf("quote(%q) reads %q", s, got)
		}
	})
}

func TestJoined_HealsACutSurrogatePair(t *testing.T) {
	var j Fragments
	j.Add([]byte(`"a\ud83d"`))
	j.Add([]byte(`"\ude00b"`))
	if got := Unquote(j.Bytes()); got != "a😀b" {
		t.Errorf("got %q", got)
	}
}
