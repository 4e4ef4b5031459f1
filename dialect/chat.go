package dialect

import (
	"strconv"

	"github.com/retake-debugger/retake/transcript"
)

// chatAPI is OpenAI Chat Completions, and what the many vendors that speak it
// made of it.
type chatAPI struct{ *reader }

func (a chatAPI) stream() assembler { return &chatStream{reader: a.reader} }

func (a chatAPI) request(o *outline) {
	a.common(o)
	a.each(o, "messages", a.message, nil)
	a.each(o, "tools", a.tool, nil)
	a.each(o, "functions", a.tool, nil) // before tools there were
}

func (a chatAPI) message(v []byte, at string) {
	m := chatMessage{reader: a.reader, at: at, add: a.in}
	m.read(v)
}

func (a chatAPI) tool(v []byte, at string) {
	name := str(get(v, "function", "name"))
	for _, path := range [...][]string{{"custom", "name"}, {"name"}, {"type"}} {
		if name == "" {
			name = str(get(v, path...))
		}
	}
	a.in(transcript.Item{Kind: transcript.ToolDefinition, Name: name, Raw: v, At: at})
}

func (a chatAPI) response(object []byte) {
	t := a.turn
	a.readError(object)
	var choices, usage, groq []byte
	for c := walk(object); c.object && c.next(); {
		switch v := c.value(); string(c.key()) {
		case "id":
			t.ResponseID = str(v)
		case "model":
			t.ResponseModel = str(v)
		case "choices":
			choices = v
		case "usage":
			usage = v
		case "x_groq": // Groq: usage of a stream, with or without a usage member beside it
			groq = get(v, "usage")
		}
	}
	if !isObject(usage) {
		usage = groq
	}
	if isObject(usage) {
		t.UsageRaw, t.Usage = usage, a.usage(usage)
	}
	lowest := lowestIndex(choices)
	n := 0
	for e := walk(choices); !e.object && e.next(); n++ {
		a.choice(e.value(), n, lowest)
	}
}

// lowestIndex gives the index of the choice that counts as choice 0.
func lowestIndex(choices []byte) int64 {
	lowest, n := int64(-1), int64(0)
	for e := walk(choices); !e.object && e.next(); n++ {
		if i := choiceIndex(e.value(), n); lowest < 0 || i < lowest {
			lowest = i
		}
	}
	return lowest
}

func choiceIndex(choice []byte, position int64) int64 {
	if v := get(choice, "index"); has(v) {
		return num(v)
	}
	return position
}

func (a chatAPI) choice(v []byte, position int, lowest int64) {
	t := a.turn
	m := chatMessage{reader: a.reader, add: a.out, role: "assistant",
		at:     "/choices/" + strconv.Itoa(position) + "/message",
		choice: int(choiceIndex(v, int64(position)) - lowest)}
	if u := get(v, "usage"); t.Usage == nil && isObject(u) { // Moonshot's own endpoint
		t.UsageRaw, t.Usage = u, a.usage(u)
	}
	if e := get(v, "error"); isObject(e) { // OpenRouter, when the upstream of one choice failed
		a.fail(errorObject(e))
	}
	if message := get(v, "message"); isObject(message) {
		m.read(message)
	}
	if m.choice == 0 {
		t.Text = m.visible
		t.FinishReason = words(get(v, "finish_reason"))
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
func (a chatAPI) usage(v []byte) *transcript.Usage {
	u := transcript.Usage{}
	var hit, write int64
	for c := walk(v); c.object && c.next(); {
		switch n := c.value(); string(c.key()) {
		case "prompt_tokens":
			u.InputTotal = num(n)
		case "completion_tokens":
			u.Output = num(n)
		case "total_tokens":
			u.Total = num(n)
		case "prompt_tokens_details":
			u.CacheRead = num(get(n, "cached_tokens"))
			u.CacheWrite = num(get(n, "cache_write_tokens"))
		case "completion_tokens_details":
			u.Reasoning = num(get(n, "reasoning_tokens"))
		case "prompt_cache_hit_tokens", "cached_tokens":
			hit = num(n)
		case "cache_creation_input_tokens":
			write = num(n)
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
		a.warn("usage: %d reasoning tokens are not in the output count", u.Reasoning)
	}
	return &u
}
