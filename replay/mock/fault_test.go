package mock_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/retake-debugger/retake/replay/mock"
	"github.com/retake-debugger/retake/transcript"
)

func faults(t *testing.T, specs ...string) *mock.Faults {
	t.Helper()
	var list []mock.Fault
	for _, s := range specs {
		f, err := mock.ParseFault(s)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, f)
	}
	return mock.NewFaults(list, 1)
}

const twoCalls = `{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_a","type":"function","function":{"name":"f","arguments":"{\"n\":{\"m\":1}}"}},{"id":"call_b","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`

func TestFaults(t *testing.T) {
	t.Run("refused, and then served", func(t *testing.T) {
		p := newRecordings(t)
		p.add(chatPath, chat("a"), 200, saying("yes"), nil)
		url := p.serve(&mock.Handler{Faults: faults(t, "429:7s@1", "529@2", "500@3")}).URL + chatPath
		for _, want := range []struct {
			status int
			after  string
		}{{429, "7"}, {529, "1"}, {500, ""}, {200, ""}} {
			if g := post(url, chat("a")); g.status != want.status || g.header.Get("Retry-After") != want.after {
				t.Errorf("%+v, want %+v", g, want)
			}
		}
	})
	t.Run("cut after some events", func(t *testing.T) {
		p := newRecordings(t)
		p.add(chatPath, chat("a"), 200, "data: 1\n\n: note\n\ndata: 2\n\ndata: 3\n\n", map[string][]string{"Content-Type": {"text/event-stream"}}, transcript.Chunk{})
		g := post(p.serve(&mock.Handler{Faults: faults(t, "cut:2")}).URL+chatPath, chat("a"))
		if g.body != "data: 1\n\n: note\n\ndata: 2\n\n" || g.err == nil {
			t.Errorf("%+v", g)
		}
	})
	t.Run("malformed arguments", func(t *testing.T) {
		p := newRecordings(t)
		p.add(chatPath, chat("a"), 200, twoCalls, nil)
		p.add("/v1/messages", chat("a"), 200, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\\\":1}\"}}\n\n", map[string][]string{"Content-Type": {"text/event-stream"}})
		url := p.serve(&mock.Handler{Faults: faults(t, "malformed")}).URL
		g := post(url+chatPath, chat("a"))
		if !json.Valid([]byte(g.body)) || !strings.Contains(g.body, `"{\"n\":{\"m\":1"`) || !strings.Contains(g.body, `"arguments":"{"`) {
			t.Errorf("%s", g.body)
		}
		if g = post(url+"/v1/messages", chat("a")); !strings.Contains(g.body, `"partial_json":"{\"a\":1"`) || !strings.HasPrefix(g.body, "event: content_block_delta\ndata: {") || !strings.HasSuffix(g.body, "}\n\n") {
			t.Errorf("%s", g.body)
		}
	})
	t.Run("duplicate call ids", func(t *testing.T) {
		p := newRecordings(t)
		p.add(chatPath, chat("a"), 200, twoCalls, nil)
		g := post(p.serve(&mock.Handler{Faults: faults(t, "duplicate@1")}).URL+chatPath, chat("a"))
		if strings.Count(g.body, `"call_a"`) != 2 || strings.Contains(g.body, "call_b") {
			t.Errorf("%s", g.body)
		}
	})
	t.Run("another tool result", func(t *testing.T) {
		p := newRecordings(t)
		with := func(result string) string {
			return `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[{"id":"call_a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_a","content":"` + result + `"}]}`
		}
		p.add(chatPath, with("changed"), 200, saying("yes"), nil)
		later := func(result string) string {
			return strings.TrimSuffix(with(result), "]}") + `,{"role":"assistant","content":"yes"},{"role":"user","content":"sure?"}]}`
		}
		p.add(chatPath, later("changed"), 200, saying("sure"), nil)
		url := p.serve(&mock.Handler{Faults: faults(t, "result:changed@1", "result:new@4")}).URL
		if g := post(url+chatPath, with("true")); g.body != saying("yes") {
			t.Errorf("%+v", g)
		}
		if g := post(url+chatPath, later("true")); g.body != saying("sure") {
			t.Errorf("the agent sends it as it was: %+v", g)
		}
		if e := post(url+chatPath, later("another")).refusal(t).Error; e.Code != "replay_no_match" || strings.Contains(e.Message, "a fault") {
			t.Errorf("another result with that call id: %+v", e)
		}
		if e := post(url+chatPath, with("other")).refusal(t).Error; e.Code != "replay_no_match" || !strings.Contains(e.Message, "a fault gave a tool result another text") {
			t.Errorf("a text that no recording has: %+v", e)
		}
	})
	t.Run("by chance, as the seed says", func(t *testing.T) {
		count := func() (n int) {
			p := newRecordings(t)
			for range 100 {
				p.add(chatPath, chat("a"), 200, saying("yes"), nil)
			}
			url := p.serve(&mock.Handler{Faults: faults(t, "500@0.3")}).URL + chatPath
			for range 100 {
				if post(url, chat("a")).status == 500 {
					n++
				}
			}
			return n
		}
		if a, b := count(), count(); a != b || a < 10 || a > 60 {
			t.Errorf("%d and %d of 100", a, b)
		}
	})
}

func TestParseFault(t *testing.T) {
	if f, err := mock.ParseFault("slow:1.5s@4"); err != nil || f.Kind != mock.Slow || f.Duration != 1500*time.Millisecond || f.At != 4 {
		t.Errorf("%+v %v", f, err)
	}
	for _, spec := range []string{"", "404", "cut", "cut:x", "cut:-1", "slow:x", "429@0", "429@1.5", "malformed:x", "500@x"} {
		if f, err := mock.ParseFault(spec); err == nil {
			t.Errorf("%q: %+v", spec, f)
		}
	}
}
