package dialect

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/dialect/draft"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// TestCorpus_ConversionsKeepWhatTheyDoNotList takes every request of the corpus
// to the other two dialects and back. Each way keeps roles, order, texts, calls,
// results and ids save what it lists; what is missing after both is under a
// pointer of the lists; and nothing is listed that is still there.
func TestCorpus_ConversionsKeepWhatTheyDoNotList(t *testing.T) {
	dialects := []transcript.Dialect{transcript.Chat, transcript.Responses, transcript.Messages}
	n, codes := map[string]int{}, map[string]int{}
	for _, x := range corpusCases(t) {
		from := Recognise(x.wire)
		body := x.wire.Request
		if from == transcript.Unknown || !rawjson.Valid(body) || !rawjson.IsObject(body[rawjson.SkipSpace(body, 0):]) {
			continue
		}
		for _, to := range dialects {
			if to == from {
				continue
			}
			way := string(from) + " to " + string(to)
			there, lost, err := Convert(from, to, body)
			if err != nil {
				t.Errorf("%s: %s: %v", x.key, way, err)
				continue
			}
			back, lostBack, err := Convert(to, from, there)
			if err != nil {
				t.Errorf("%s: %s and back: %v", x.key, way, err)
				continue
			}
			n[way]++
			n[way+": items"] += len(Decode(from, &api.Wire{Request: body}).Input)
			if len(lost)+len(lostBack) == 0 {
				n[way+": without any loss"]++
			}
			for _, l := range lost {
				codes[string(l.Code)]++
			}
			w := conversion{t: t, key: x.key + ": " + way, n: n}
			w.keepsItems(from, body, to, there, lost)
			w.key += " and back"
			w.keepsItems(to, there, from, back, lostBack)
			w.accountsForValues(body, there, back, lost, lostBack)
		}
	}
	if len(n) == 0 {
		t.Fatal("no request found")
	}
	report(t, n)
	report(t, codes)
}

func report(t *testing.T, counts map[string]int) {
	names := make([]string, 0, len(counts))
	for name := range counts {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		t.Logf("%6d  %s", counts[name], name)
	}
}

type conversion struct {
	t   *testing.T
	key string
	n   map[string]int
}

// beat is what one side says in a row, a call, or a result.
type beat struct{ kind, role, id, name, text string }

// keepsItems compares what two requests say, item by item.
func (w *conversion) keepsItems(from transcript.Dialect, a []byte, to transcript.Dialect, b []byte, lost []draft.Loss) {
	w.t.Helper()
	want := beats(a, Decode(from, &api.Wire{Request: a}).Input, lost)
	got := beats(b, Decode(to, &api.Wire{Request: b}).Input, nil)
	if slices.ContainsFunc(lost, func(l draft.Loss) bool { return l.Code == draft.MessageMoved }) {
		w.n["ways in which a message moved"]++
		want, got = anyOrder(want), anyOrder(got)
	}
	if fmt.Sprint(want) != fmt.Sprint(got) {
		w.t.Errorf("%s:\nwant %q\ngot  %q\nlost %+v", w.key, want, got, lost)
	}
	w.n["beats compared"] += len(want)
}

// anyOrder gives beats whose order does not count: what a role says is the signs
// of all that it says.
func anyOrder(list []beat) []beat {
	var out []beat
	said := map[beat][]rune{}
	for _, b := range list {
		if b.id != "" || b.kind == string(transcript.ToolCall) || b.kind == string(transcript.ToolResult) {
			out = append(out, b)
			continue
		}
		who := beat{kind: b.kind, role: b.role}
		said[who] = append(said[who], []rune(b.text)...)
	}
	for who, text := range said {
		slices.Sort(text)
		who.text = string(text)
		out = append(out, who)
	}
	slices.SortFunc(out, func(x, y beat) int { return strings.Compare(fmt.Sprint(x), fmt.Sprint(y)) })
	return out
}

// beats reads items as they are to be after the losses. What one role says in
// adjacent messages is one beat: dialects cut it differently.
func beats(body []byte, items []transcript.Item, lost []draft.Loss) []beat {
	at := map[string][]draft.Loss{} // by the pointer of the item that a loss lies in
	for _, l := range lost {
		for i := range items {
			if l.At == items[i].At || strings.HasPrefix(l.At, items[i].At+"/") || strings.HasPrefix(items[i].At, l.At+"/") {
				at[items[i].At] = append(at[items[i].At], l)
			}
		}
	}
	ids := map[int]string{} // of results: by their calls
	for _, m := range transcript.PairItems(items) {
		if m.Call < 0 || m.Result < 0 {
			continue
		}
		ids[m.Result] = items[m.Call].CallID
		for _, l := range at[items[m.Call].At] {
			if l.Code == draft.CallIDRewritten {
				ids[m.Result] = l.To
			}
		}
	}
	var out []beat
	say := func(b beat) {
		if n := len(out); n > 0 && out[n-1].kind == b.kind && out[n-1].role == b.role {
			out[n-1].text += b.text
			return
		}
		if b.text != "" {
			out = append(out, b)
		}
	}
	for i := range items {
		it := &items[i]
		b := beat{kind: string(it.Kind), role: it.Role, id: it.CallID, name: it.Name, text: it.Text}
		if id, ok := ids[i]; ok {
			b.id = id
		}
		if it.Kind == transcript.ToolCall {
			b.text = it.ArgumentsRaw
			if c, err := rawjson.Canonical(it.Arguments); err == nil {
				b.text = string(c)
			}
		}
		if it.ServerSide || !suffer(&b, body, it, at[it.At], lost) {
			continue
		}
		switch it.Kind {
		case transcript.ToolCall:
			out = append(out, b)
		case transcript.ToolResult:
			b.name, b.role = "", ""
			out = append(out, b)
		case transcript.System, transcript.MessageItem, transcript.Compaction:
			b.id, b.name = "", ""
			say(b)
		}
	}
	return out
}

// suffer makes the losses of an item in a beat. It is false if nothing is left.
func suffer(b *beat, body []byte, it *transcript.Item, here, all []draft.Loss) bool {
	for _, l := range all {
		if l.Code == draft.ToolNameRewritten && l.From == b.name && b.kind == string(transcript.ToolCall) {
			b.name = l.To
		}
	}
	for _, l := range here {
		whole := l.At == it.At
		switch l.Code {
		case draft.CallIDRewritten:
			if whole {
				b.id = l.To
			}
		case draft.RoleChanged:
			b.role = l.To
		case draft.CallRewritten, draft.ArgumentsRewritten:
			if b.kind == string(transcript.ToolCall) && (l.From == "free text" || l.Code == draft.ArgumentsRewritten) {
				c, _ := rawjson.Canonical([]byte(`{"input":` + string(rawjson.Quote(it.ArgumentsRaw)) + `}`))
				b.text = string(c)
			} else if b.kind == string(transcript.ToolResult) && b.text == "" {
				b.text = string(rawjson.Get(it.Raw, "output")) + string(rawjson.Get(it.Raw, "tools"))
			}
		case draft.ItemDropped, draft.HistoryMissing, draft.ServerCallDropped:
			if whole {
				return false
			}
		case draft.TextDropped:
			if strings.TrimSpace(b.text) == "" {
				return b.kind == string(transcript.ToolResult)
			}
			b.text = strings.Replace(b.text, l.From, "", 1)
		case draft.PartRewritten:
			if l.From == "document" {
				b.text += rawjson.String(rawjson.Get(valueAt(body, l.At), "source", "data"))
			}
			if l.From == "compaction" {
				b.kind, b.role = string(transcript.MessageItem), "assistant"
			}
		}
	}
	return true
}

// values counts the strings, numbers and truths of a body, each with the name
// of the member that it stands in or below.
func values(v []byte, at string, name string, keep func(at, value string)) {
	switch {
	case rawjson.IsObject(v):
		for c := rawjson.Walk(v); c.Next(); {
			key := string(c.Key())
			values(c.Value(), at+"/"+rawjson.EscapeToken(key), key, keep)
		}
	case rawjson.IsArray(v):
		draft.Each(v, at, func(v []byte, at string) { values(v, at, name, keep) })
	case rawjson.IsString(v):
		if text := rawjson.Unquote(v); text != "" {
			keep(at, respelled(name, text))
		}
	case rawjson.Present(v):
		switch value := string(v); {
		case strings.HasPrefix(name, "max_"):
			keep(at, "max_tokens="+value)
		case name == "disable_parallel_tool_use":
			keep(at, "parallel_tool_calls="+map[string]string{"true": "false", "false": "true"}[value])
		default:
			keep(at, name+"="+value)
		}
	}
}

// respelled gives what a text says whatever member it stands in, since the
// names of members change; of arguments their values.
func respelled(name, text string) string {
	if name == "tool_choice" && text == "any" {
		text = "required"
	}
	if c, err := rawjson.Canonical([]byte(text)); err == nil && strings.HasPrefix(text, "{") {
		text = string(c)
	}
	return "text=" + text
}

// silent tells a member that a conversion may leave out without a word.
func silent(at, value string) bool {
	last := at[strings.LastIndex(at, "/")+1:]
	switch {
	case last == "type", last == "role": // compared as items
		return true
	case last == "id", last == "status", last == "index": // minted by the provider, or compared as items
		return true
	case last == "name" && strings.HasPrefix(at, "/messages/"): // of a result: that of its call
		return true
	case value == "is_error=false", value == "store=false", value == "n=1", value == "include_usage=true":
		return true
	case value == "text=reasoning.encrypted_content":
		return true
	}
	return false
}

// accountsForValues looks for each value of a request in what came back, and for
// what is not there in the lists.
func (w *conversion) accountsForValues(body, there, back []byte, lost, lostBack []draft.Loss) {
	w.t.Helper()
	after := map[string]int{}
	values(back, "", "", func(_, v string) { after[v]++ })
	excused := map[string]int{}
	values(there, "", "", func(at, v string) {
		for _, l := range lostBack {
			if under(at, l.At) {
				excused[v]++
				return
			}
		}
	})
	for _, l := range lost {
		excused["text="+l.From]++
	}
	really := map[string]bool{} // the pointers of losses under which something is missing
	count := map[string]int{}
	values(body, "", "", func(at, v string) { count[v]++ })
	values(body, "", "", func(at, v string) {
		listed := false
		for _, l := range lost {
			if under(at, l.At) {
				listed = true
				really[l.At] = really[l.At] || after[v] < count[v]
			}
		}
		if listed || silent(at, v) {
			return
		}
		if after[v] > 0 {
			return
		}
		if excused[v] > 0 {
			excused[v]--
			return
		}
		w.t.Errorf("%s: %s %.200s is neither there nor listed\nlost %+v\nback %+v", w.key, at, v, lost, lostBack)
	})
	w.n["values accounted for"] += len(count)
	for _, l := range lost {
		if strings.HasSuffix(string(l.Code), "_dropped") && !really[l.At] && !dropsWords(body, l.At) {
			w.t.Errorf("%s: %+v is listed but still there", w.key, l)
		}
	}
}

// dropsWords tells whether a value holds nothing but what is silent, such as an
// image whose only value is its type.
func dropsWords(body []byte, at string) bool {
	v := valueAt(body, at)
	if v == nil {
		return false
	}
	words := true
	values(v, at, at[strings.LastIndex(at, "/")+1:], func(at, v string) { words = words && silent(at, v) })
	return words
}

func valueAt(body []byte, at string) []byte {
	p, err := rawjson.Locate(body, at)
	if err != nil {
		return nil
	}
	return body[p.Start:p.End]
}

func under(at, pointer string) bool {
	return pointer != "" && (at == pointer || strings.HasPrefix(at, pointer+"/"))
}
