package view

import "testing"

func TestFormOf(t *testing.T) {
	for text, want := range map[string]string{
		"":                "empty",
		" \n":             "empty",
		"12":              "text",
		"exit status 1":   "text",
		"{broken":         "text",
		`{"a":1} {"b":2}`: "text",
		`[]`:              "[]",
		`{"b":[{"id":9007199254740993}],"a":null}`: "{a: null, b: [{id: number}]}",
		`[true,"x"]`:                "[boolean]",
		`{"a":{"b":{"c":{"d":1}}}}`: "{a: {b: {c: {…}}}}",
	} {
		if got := formOf(text, 0); got != want {
			t.Errorf("form of %q is %q, want %q", text, got, want)
		}
	}
	if got := formOf("", 1); got != "not text" {
		t.Errorf("form of an image is %q", got)
	}
}
