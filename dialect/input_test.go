package dialect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/transcript"
)

// A request goes on in the memory of the one before it, and only then.
func TestRelease_GivesTheInputToTheNextRequest(t *testing.T) {
	tools := `"tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"g"}}]`
	body := func(texts ...string) *api.Wire {
		var list []string
		for _, text := range texts {
			list = append(list, fmt.Sprintf(`{"role":"user","content":%q}`, text))
		}
		return &api.Wire{Request: []byte(`{"messages":[` + strings.Join(list, ",") + `],` + tools + `}`)}
	}
	var m api.Memory
	read := func(texts ...string) *api.Reading {
		t.Helper()
		r := Read(&m, transcript.Chat, body(texts...))
		if n := len(r.Turn.Input); n != len(texts)+2 {
			t.Fatalf("%d items, want %d", n, len(texts)+2)
		}
		return r
	}
	place := func(r *api.Reading) *transcript.Item { return &r.Turn.Input[0] }

	first := read("a", "b", "c")
	m.Release(first)
	second := read("a", "b", "c", "d")
	if place(second) != place(first) {
		t.Error("a longer request does not take over the input before")
	}
	if other := read("a", "b", "c", "d", "e"); place(other) == place(second) {
		t.Error("an input is taken over that is still in use")
	}
	m.Release(second)
	if fork := read("a", "x", "c", "d"); place(fork) == place(second) {
		t.Error("an input with another history is taken over")
	}
	again := read("a", "b", "c", "d")
	if place(again) != place(second) {
		t.Error("the same request does not take over its input")
	}
	if at := again.Turn.Input[4].At; at != "/tools/0" {
		t.Errorf("the first tool is at %s", at)
	}
}

// What is kept is bounded, however many histories there are.
func TestRelease_KeepsABoundedNumberOfItems(t *testing.T) {
	long := strings.Repeat(`{"role":"user","content":"x"},`, 1000)
	var m api.Memory
	for i := range 60 {
		w := &api.Wire{Request: fmt.Appendf(nil, `{"messages":[%s{"role":"user","content":"end %d"}]}`, long, i)}
		m.Release(Read(&m, transcript.Chat, w))
	}
	if m.Kept > api.MostInputItems || len(m.Ended) == 0 {
		t.Errorf("%d items are kept, of %d inputs", m.Kept, len(m.Ended))
	}
	for _, e := range m.Recent {
		m.Forget(e)
	}
	for _, e := range m.Older {
		m.Forget(e)
	}
	if m.Kept != 0 || len(m.Ended) != 0 {
		t.Errorf("%d items of %d inputs are kept for elements that are forgotten", m.Kept, len(m.Ended))
	}
}
