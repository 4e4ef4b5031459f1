package chat

import (
	"strconv"

	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// decoder reads OpenAI Chat Completions, and what the many vendors that speak it
// made of it.
type decoder struct{ *api.Reader }

func (a decoder) Stream() api.Assembler { return &stream{Reader: a.Reader} }

func (a decoder) Request(o *api.Outline) {
	a.Common(o)
	a.Each(o, "messages", a.message, nil)
	a.Each(o, "tools", a.tool, nil)
	a.Each(o, "functions", a.tool, nil) // before tools there were
}

func (a decoder) message(v []byte, at string) {
	m := message{Reader: a.Reader, at: at, add: a.In}
	m.read(v)
}

func (a decoder) tool(v []byte, at string) {
	name := rawjson.String(rawjson.Get(v, "function", "name"))
	for _, path := range [...][]string{{"custom", "name"}, {"name"}, {"type"}} {
		if name == "" {
			name = rawjson.String(rawjson.Get(v, path...))
		}
	}
	a.In(transcript.Item{Kind: transcript.ToolDefinition, Name: name, Raw: v, At: at})
}

func (a decoder) Response(object []byte) {
	t := a.Turn
	a.ReadError(object)
	var choices, usage, groq []byte
	for c := rawjson.Walk(object); c.Object && c.Next(); {
		switch v := c.Value(); string(c.Key()) {
		case "id":
			t.ResponseID = rawjson.String(v)
		case "model":
			t.ResponseModel = rawjson.String(v)
		case "choices":
			choices = v
		case "usage":
			usage = v
		case "x_groq": // Groq: usage of a stream, with or without a usage member beside it
			groq = rawjson.Get(v, "usage")
		}
	}
	if !rawjson.IsObject(usage) {
		usage = groq
	}
	if rawjson.IsObject(usage) {
		t.UsageRaw, t.Usage = usage, a.usage(usage)
	}
	lowest := lowestIndex(choices)
	n := 0
	for e := rawjson.Walk(choices); !e.Object && e.Next(); n++ {
		a.choice(e.Value(), n, lowest)
	}
}

// lowestIndex gives the index of the choice that counts as choice 0.
func lowestIndex(choices []byte) int64 {
	lowest, n := int64(-1), int64(0)
	for e := rawjson.Walk(choices); !e.Object && e.Next(); n++ {
		if i := choiceIndex(e.Value(), n); lowest < 0 || i < lowest {
			lowest = i
		}
	}
	return lowest
}

func choiceIndex(choice []byte, position int64) int64 {
	if v := rawjson.Get(choice, "index"); rawjson.Present(v) {
		return rawjson.Count(v)
	}
	return position
}

func (a decoder) choice(v []byte, position int, lowest int64) {
	t := a.Turn
	m := message{Reader: a.Reader, add: a.Out, role: "assistant",
		at:     "/choices/" + strconv.Itoa(position) + "/message",
		choice: int(choiceIndex(v, int64(position)) - lowest)}
	if u := rawjson.Get(v, "usage"); t.Usage == nil && rawjson.IsObject(u) { // Moonshot's own endpoint
		t.UsageRaw, t.Usage = u, a.usage(u)
	}
	if e := rawjson.Get(v, "error"); rawjson.IsObject(e) { // OpenRouter, when the upstream of one choice failed
		a.Fail(api.ErrorObject(e))
	}
	if message := rawjson.Get(v, "message"); rawjson.IsObject(message) {
		m.read(message)
	}
	if m.choice == 0 {
		t.Text = m.visible
		t.FinishReason = rawjson.Scalar(rawjson.Get(v, "finish_reason"))
	}
}

// usage reads a count wherever the vendor put it.
//
//	prompt_tokens_details.cached_tokens     OpenAI and most
//	prompt_cache_hit_tokens                 DeepSeek
//	cached_tokens                           Moonshot
//	prompt_tokens_details.cache_write_tokens, cache_creation_input_tokens   OpenRouter, LiteLLM
//
// Output is as reported. xAI does not count reasoning in completion_tokens;
// its total shows that, and so does a warning.
func (a decoder) usage(v []byte) *transcript.Usage {
	u := transcript.Usage{}
	var hit, write int64
	for c := rawjson.Walk(v); c.Object && c.Next(); {
		switch n := c.Value(); string(c.Key()) {
		case "prompt_tokens":
			u.InputTotal = rawjson.Count(n)
		case "completion_tokens":
			u.Output = rawjson.Count(n)
		case "total_tokens":
			u.Total = rawjson.Count(n)
		case "prompt_tokens_details":
			u.CacheRead = rawjson.Count(rawjson.Get(n, "cached_tokens"))
			u.CacheWrite = rawjson.Count(rawjson.Get(n, "cache_write_tokens"))
		case "completion_tokens_details":
			u.Reasoning = rawjson.Count(rawjson.Get(n, "reasoning_tokens"))
		case "prompt_cache_hit_tokens", "cached_tokens":
			hit = rawjson.Count(n)
		case "cache_creation_input_tokens":
			write = rawjson.Count(n)
		}
	}
	if u.CacheRead == 0 {
		u.CacheRead = hit
	}
	if u.CacheWrite == 0 {
		u.CacheWrite = write
	}
	u.InputUncached = max(0, u.InputTotal-u.CacheRead-u.CacheWrite)
	if u.Total == 0 {
		u.Total = u.InputTotal + u.Output
	}
	if u.Reasoning > 0 && u.Total == u.InputTotal+u.Output+u.Reasoning {
		a.Warn("usage: %d reasoning tokens are not in the output count", u.Reasoning)
	}
	return &u
}
