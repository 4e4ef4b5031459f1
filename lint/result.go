package lint

import (
	"fmt"
	"hash/maphash"
	"strings"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

const (
	largeText    = 32 << 10 // bytes of a very large result
	longBase64   = 1 << 10  // a run of base64 of this length is data
	bytesToToken = 4        // approximately, in English text and code
	sameCalls    = 3        // so many equal calls are reported
	nearCalls    = 12       // an equal call further back does not count
)

// toolRecord is what happened to the calls of one tool.
type toolRecord struct {
	worked, failed         int
	fails                  *Finding
	workedShape, failShape string
	shapeSaid              bool
}

// repeated is a call with its result that occurred before.
type repeated struct {
	count, number int // how often; the number of the last such call
	result        uint64
	finding       *Finding
}

// largeResult is a result that every later step sends again.
type largeResult struct {
	finding *Finding
	answers int // answers before it
	tokens  int64
	what    string
	step    *transcript.Exchange
}

// learn judges a result together with its call and earlier ones.
func (h *history) learn(w *walker, c *call, it *transcript.Item, at spot) {
	failed := it.IsError || looksFailed(it.Text)
	h.repeated(w, c, it.Text)
	h.shapes(w, c, it, at, failed)
}

// repeated reports the same call with the same result.
func (h *history) repeated(w *walker, c *call, result string) {
	var m maphash.Hash
	m.SetSeed(h.seed)
	m.WriteString(c.name)
	m.WriteByte(0)
	m.WriteString(c.arguments)
	key, sum := m.Sum64(), maphash.String(h.seed, result)
	r := h.same[key]
	if r == nil || r.result != sum || c.number-r.number > nearCalls {
		h.same[key] = &repeated{count: 1, number: c.number, result: sum}
		return
	}
	r.count, r.number = r.count+1, c.number
	if r.count < sameCalls {
		return
	}
	if r.finding == nil {
		r.finding = w.find("repeated_call", Warning, c.at, c.id, "")
	}
	r.finding.Message = fmt.Sprintf("%s was repeated %d times with the same arguments and the same result: tell the model, or stop the loop", callName(c), r.count)
}

// shapes updates the record of a tool.
func (h *history) shapes(w *walker, c *call, it *transcript.Item, at spot, failed bool) {
	t := h.tools[c.name]
	if t == nil {
		t = &toolRecord{}
		h.tools[c.name] = t
	}
	shape := shapeOf(it.Text)
	if failed {
		t.failed++
		t.failShape = shape
	} else {
		t.worked++
		t.workedShape = shape
	}
	if t.worked > 0 && t.failed > 0 && !t.shapeSaid && t.workedShape != t.failShape && shape != "" {
		t.shapeSaid = true
		w.find("result_shape_changes", Info, at, c.id, "%s returns %s when it works and %s when it fails: give both the same shape", dialect.Quoted(c.name), t.workedShape, t.failShape)
	}
	switch {
	case t.worked > 0:
		if t.fails != nil {
			t.fails.dropped = true
		}
	case t.failed >= sameCalls:
		if t.fails == nil {
			t.fails = w.find("tool_always_fails", Warning, c.at, c.id, "")
		}
		t.fails.Message = fmt.Sprintf("%s failed %d times of %d: repair the tool, or do not offer it", dialect.Quoted(c.name), t.failed, t.failed)
	}
}

func shapeOf(s string) string {
	switch s = strings.TrimSpace(s); {
	case strings.HasPrefix(s, "{") && strings.HasSuffix(s, "}"):
		return "a JSON object"
	case strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]"):
		return "a JSON array"
	}
	return "text"
}

// looksFailed reports whether a result says that something went wrong.
func looksFailed(s string) bool {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "{") {
		return truthy(errorMember(s))
	}
	head := strings.ToLower(s[:min(len(s), 40)])
	for _, p := range [...]string{"error:", "error -", "traceback (most recent call last)", "exception:", "fatal:", "fatal error:", "<tool_use_error>", "<error>"} {
		if strings.HasPrefix(head, p) {
			return true
		}
	}
	return false
}

func errorMember(s string) []byte {
	if !strings.HasSuffix(s, "}") {
		return nil
	}
	return rawjson.Get([]byte(s), "error")
}

// claimsSuccess reports whether a JSON object says that all went well.
func claimsSuccess(s string) bool {
	s = strings.TrimSpace(s)
	if !strings.HasPrefix(s, "{") {
		return false
	}
	for key, v := range rawjson.Members([]byte(s)) {
		switch key {
		case "success", "ok":
			if string(v) == "true" {
				return true
			}
		case "status":
			if t := rawjson.String(v); t == "ok" || t == "success" || string(v) == "200" {
				return true
			}
		}
	}
	return false
}

// content judges a result by itself.
func (w *walker) content(it *transcript.Item, at spot) {
	w.contentShape(it, at)
	if !it.IsError && looksFailed(it.Text) {
		switch {
		case w.api.ErrorMark != "":
			w.find("error_told_as_success", Warning, at, it.CallID, "the result reports an error: set %s, so that the model and the client know", w.api.ErrorMark)
		case claimsSuccess(it.Text):
			w.find("error_told_as_success", Warning, at, it.CallID, "the result holds an error and claims success: say one of the two")
		}
	}
	size := len(it.Text)
	if run := base64In(it.Text); run > 0 {
		w.large("base64_in_result", at, it, fmt.Sprintf("%d bytes of base64 in a result", run), int64(run), "return a file name, a link or an image part instead")
	} else if size >= largeText {
		w.large("large_result", at, it, fmt.Sprintf("a result of %d bytes", size), int64(size), "return what is needed, and the rest on demand")
	}
}

func (w *walker) large(code string, at spot, it *transcript.Item, what string, bytes int64, advice string) {
	l := &largeResult{answers: w.history.answers, tokens: bytes / bytesToToken, what: what, step: w.step}
	l.finding = w.find(code, Warning, at, it.CallID, "")
	l.finding.Message = what + ": " + advice
	h := w.history
	cost := w.judge.Cost
	l.finding.weigh = func(f *Finding) {
		again := h.answers - l.answers - 1
		f.Message = fmt.Sprintf("%s, about %d tokens", l.what, l.tokens)
		total := l.tokens
		if again > 0 {
			total += l.tokens * int64(again)
			f.Message += fmt.Sprintf(", was sent again %d times: about %d tokens", again, total)
		}
		if cost != nil {
			if money := cost(l.step, total); money != "" {
				f.Message += " or " + money + " without a cache"
			}
		}
		f.Message += ": " + advice
	}
}

// base64In returns the length of the longest run of base64 that is data, 0 if there
// is none.
func base64In(s string) int {
	longest := 0
	for start, end := range transcript.Base64Runs(s, longBase64) {
		longest = max(longest, end-start)
	}
	return longest
}

// contentShape judges what a result's value is made of.
func (w *walker) contentShape(it *transcript.Item, at spot) {
	name := w.api.Rules.Content(it.Raw)
	if name == "" {
		return
	}
	v := rawjson.Get(it.Raw, name)
	switch {
	case rawjson.IsString(v):
	case rawjson.IsArray(v):
		for i, part := range rawjson.Indexed(v) {
			if why := w.badPart(part); why != "" {
				w.find("tool_content_not_string", Error, at.under(fmt.Sprintf("/%s/%d", name, i)), it.CallID, "%s: send text, or a part that the API accepts", why)
				return
			}
			if why := w.unsupported(part); why != "" {
				w.find("unsupported_content", Error, at.under(fmt.Sprintf("/%s/%d", name, i)), it.CallID, "%s", why)
			}
		}
	case v == nil && w.api.Rules.NoContent:
	default:
		is := "missing"
		if v != nil {
			is = rawjson.Describe(v)
		}
		w.find("tool_content_not_string", Error, at.under("/"+name), it.CallID, "the %s of a result is %s: encode it as a string", name, is)
	}
}

// badPart returns why a part of a result is not accepted.
func (w *walker) badPart(part []byte) string {
	kind := rawjson.String(rawjson.Get(part, "type"))
	if !rawjson.IsObject(part) {
		return "a part is " + rawjson.Describe(part)
	}
	switch {
	case kind == "":
		return "a part has no type"
	case w.api.Rules.ForeignPart != nil && w.api.Rules.ForeignPart(kind):
		return fmt.Sprintf("a part of type %s belongs to another API", dialect.Quoted(kind))
	}
	return ""
}

// truthy reports whether a program would treat a value as true.
func truthy(raw []byte) bool {
	switch string(raw) {
	case "", "null", "false", "0", `""`, "{}", "[]":
		return false
	}
	return true
}
