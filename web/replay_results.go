package web

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

const (
	editable    = 30        // results of the request that are on the page at once, the last ones
	longestEdit = 256 << 10 // bytes of one of them
	mostMore    = 60        // further results that the user chooses
	laterListed = 100       // later results that are listed
)

// resultField is an editable tool result: one of the request, or a later one that
// replaces the recorded one.
type resultField struct {
	CallID, Name string
	Arguments    string // as they are to be sent
	Text         string // as it is to be sent
	Failed       bool   // that the tool failed is to be sent
	Marks        bool   // the API has a mark for that
	TooLong      bool
	Changed      bool
	HasCall      bool
	Anchor       string
	Key          string // of a chosen one: see more
	Ref          string // of a later one: the exchange with the result
	Same         int    // how many later ones have that call id

	item transcript.Item // the recorded one
}

// laterResult is a line in the list of later results.
type laterResult struct {
	Key, Ref, CallID, Name, Arguments, Text string
	N                                       int64
	IsError, Chosen                         bool
}

// The prefixes of the key of a chosen result.
const (
	earlierKey = "here:"  // its place in the request
	laterKey   = "later:" // its call id
)

// readResults finds the editable results. The last ones of the request are on the
// page, others can be chosen.
func (p *replayPage) readResults(turn *transcript.Turn) {
	p.marks = dialect.Of(turn.Dialect).ErrorMark != ""
	p.calls = map[string]*transcript.Item{}
	for i := range turn.Input {
		switch it := &turn.Input[i]; it.Kind {
		case transcript.ToolCall:
			p.calls[it.CallID] = it
		case transcript.ToolResult:
			p.earlier = append(p.earlier, *it)
		}
	}
	p.Earlier = max(len(p.earlier)-editable, 0)
	for i := range p.earlier[p.Earlier:] {
		p.Results = append(p.Results, p.field(&p.earlier[p.Earlier+i]))
	}
	p.earlier = p.earlier[:p.Earlier]
}

// readRecorded reads the rest of the run and lists its results.
func (p *replayPage) readRecorded(ctx context.Context, r transcript.Reader, e *transcript.Exchange) (err error) {
	if p.rest, err = replay.ReadRecorded(ctx, r, e); err == nil {
		p.taped = p.rest.Results()
		p.list()
	}
	return err
}

// field makes the field of a result of the request.
func (p *replayPage) field(it *transcript.Item) resultField {
	f := resultField{CallID: it.CallID, Name: it.Name, Text: it.Text, Failed: it.IsError, Marks: p.marks, TooLong: len(it.Text) > longestEdit, Anchor: resultAnchor(it.At), item: *it}
	if call := p.calls[it.CallID]; call != nil {
		f.Name, f.Arguments, f.HasCall = call.Name, call.ArgumentsRaw, call.ArgumentsRaw != "" && len(call.ArgumentsRaw) <= longestEdit
	}
	return f
}

// resultAnchor returns the anchor of the result at a pointer into the request.
func resultAnchor(at string) string { return "r" + strings.ReplaceAll(at, "/", "-") }

// more adds the fields of results that were chosen, by their keys.
func (p *replayPage) more(keys []string) {
	for _, key := range keys[:min(len(keys), mostMore)] {
		if slices.ContainsFunc(p.Results, func(f resultField) bool { return f.Key == key }) {
			continue
		}
		var f resultField
		if at, ok := strings.CutPrefix(key, earlierKey); ok {
			i := slices.IndexFunc(p.earlier, func(it transcript.Item) bool { return it.At == at })
			if i < 0 {
				continue
			}
			f = p.field(&p.earlier[i])
			f.Anchor = "chosen-" + strconv.Itoa(len(p.Results))
		} else if f, ok = p.laterField(strings.TrimPrefix(key, laterKey)); !ok {
			continue
		}
		f.Key = key
		p.Results = append(p.Results, f)
	}
}

// laterField makes the field of a later result.
func (p *replayPage) laterField(callID string) (f resultField, ok bool) {
	for i := range p.taped {
		t := &p.taped[i]
		if t.CallID != callID || callID == "" {
			continue
		}
		if f.Same++; f.Same == 1 {
			f.CallID, f.Name, f.Arguments, f.Text, f.Failed, f.Marks, f.TooLong = callID, t.Name, t.Arguments, t.Text, t.IsError, p.marks, len(t.Text) > longestEdit
			f.Anchor, f.item = "chosen-"+strconv.Itoa(len(p.Results)), transcript.Item{CallID: callID, Text: t.Text, IsError: t.IsError}
			if f.Ref = "a later request"; t.From != nil {
				f.Ref = view.Ref(t.From.N)
			}
		}
	}
	return f, f.Same > 0
}

// list lists the later results.
func (p *replayPage) list() {
	p.Later = nil
	for i := range p.taped {
		t := &p.taped[i]
		if i == laterListed {
			break
		}
		l := laterResult{Key: laterKey + t.CallID, CallID: t.CallID, Name: t.Name, Arguments: t.Arguments, Text: transcript.Head(t.Text, 300), IsError: t.IsError}
		if t.From != nil {
			l.Ref, l.N = view.Ref(t.From.N), t.From.N
		}
		l.Chosen = t.CallID != "" && slices.ContainsFunc(p.Results, func(f resultField) bool { return f.Key == l.Key })
		p.Later = append(p.Later, l)
	}
	p.LaterLeft = len(p.taped) - len(p.Later)
}

// named finds a result by its call id or a part of it. key is "" if the result is
// on the page already; wrong says why the id is invalid.
func (p *replayPage) named(given string) (key, wrong string) {
	keys := map[string]string{} // by call id; a result of the request comes before a later one
	for i := range p.taped {
		if id := p.taped[i].CallID; id != "" && replay.IsCallID(id, given) {
			keys[id] = laterKey + id
		}
	}
	for i := range p.earlier {
		if it := &p.earlier[i]; it.CallID != "" && replay.IsCallID(it.CallID, given) {
			keys[it.CallID] = earlierKey + it.At
		}
	}
	for i := range p.Results {
		if f := &p.Results[i]; f.CallID != "" && replay.IsCallID(f.CallID, given) {
			keys[f.CallID] = f.Key
		}
	}
	if exact, ok := keys[given]; ok {
		return exact, ""
	}
	switch len(keys) {
	case 0:
		return "", "Neither the request nor what came later has the result of a call " + oneLine(given, 80) + "."
	case 1:
		for _, only := range keys {
			key = only
		}
		return key, ""
	}
	return "", strconv.Itoa(len(keys)) + " call ids fit " + oneLine(given, 80) + ": give more of it."
}

// edits returns how the fields differ from the recording.
func (p *replayPage) edits(c *gin.Context) (list []typedEdit) {
	for i := range p.Results {
		f := &p.Results[i]
		number := strconv.Itoa(i)
		if c.PostForm("id."+number) != f.CallID {
			continue
		}
		if args, ok := c.GetPostForm("args." + number); ok && f.HasCall {
			if args, changed := typed(f.Arguments, args); changed {
				if !rawjson.Valid([]byte(args)) {
					p.Wrong = "The arguments of " + oneLine(f.Name, 60) + " are not JSON."
				}
				f.Arguments = args
				list = append(list, typedEdit{Edit: transcript.Edit{Op: transcript.SetArgs, CallID: f.CallID, Value: json.RawMessage(args)}, Undo: "args." + number})
			}
		}
		text, ok := c.GetPostForm("result." + number)
		if !ok || f.TooLong {
			continue
		}
		f.Text, f.Changed = typed(f.item.Text, text)
		e := transcript.Edit{Op: transcript.SetResult, CallID: f.CallID, At: atOf(&f.item), Text: f.Text}
		if f.Marks && c.PostForm("marks."+number) != "" {
			if f.Failed = c.PostForm("error."+number) != ""; f.Failed != f.item.IsError {
				f.Changed, e.IsError = true, &f.Failed
			}
		}
		if !f.Changed {
			continue
		}
		if f.Ref != "" {
			e.At, e.Was = "", transcript.Head(f.item.Text, longestEdit)
		}
		list = append(list, typedEdit{Edit: e, Undo: "result." + number, Later: f.Ref})
	}
	return list
}

// atOf returns the pointer to a result without a call id, which nothing else
// identifies.
func atOf(it *transcript.Item) string {
	if it.CallID == "" {
		return it.At
	}
	return ""
}

// typedEdit is an edit that a form asks for.
type typedEdit struct {
	transcript.Edit
	Undo  string // key that undoes it: see rework
	Later string // of a later result: its exchange
}

// split returns the edits of the request and those of later results.
func split(edits []typedEdit) (now, later []transcript.Edit) {
	for i := range edits {
		if edits[i].Later != "" {
			later = append(later, edits[i].Edit)
		} else {
			now = append(now, edits[i].Edit)
		}
	}
	return now, later
}

// rework applies a button of the form to the form: undo an edit, or add the field
// of another result.
func (p *replayPage) rework(form url.Values) {
	p.more(form["more"])
	key := form.Get("change")
	if given := strings.TrimSpace(form.Get("change_id")); given != "" && key == "" {
		key, p.Wrong = p.named(given)
	}
	if key != "" {
		n := len(p.Results)
		if p.more([]string{key}); len(p.Results) > n {
			form.Add("more", key)
			f := &p.Results[n]
			form.Set("id."+strconv.Itoa(n), f.CallID)
			form.Set("result."+strconv.Itoa(n), f.Text)
			if f.HasCall {
				form.Set("args."+strconv.Itoa(n), f.Arguments)
			}
			if f.Marks {
				form.Set("marks."+strconv.Itoa(n), "1")
			}
			if f.Marks && f.Failed {
				form.Set("error."+strconv.Itoa(n), "1")
			}
		}
	}
	p.undo(form, form.Get("undo"))
	for _, name := range []string{"change", "change_id", "undo"} {
		form.Del(name)
	}
}

func (p *replayPage) undo(form url.Values, what string) {
	kind, name, _ := strings.Cut(what, ".")
	n, err := strconv.Atoi(name)
	field := &resultField{}
	if err == nil && n >= 0 && n < len(p.Results) {
		field = &p.Results[n]
	}
	switch kind {
	case "model":
		form.Set("model", p.Model)
	case "system":
		form.Set("system", p.System)
	case "param":
		var left []string
		for line := range strings.Lines(form.Get("params")) {
			if before, _, _ := strings.Cut(line, "="); strings.TrimSpace(before) != name {
				left = append(left, strings.TrimRight(line, "\r\n"))
			}
		}
		form.Set("params", strings.Join(left, "\n"))
	case "args":
		form.Set(what, field.Arguments)
	case "result":
		form.Set(what, field.item.Text)
		if form.Del("error." + name); field.item.IsError && field.Marks {
			form.Set("error."+name, "1")
		}
	}
}

// Where describes the position of an edited result.
func (f *resultField) Where() string {
	if f.Same > 1 {
		return strconv.Itoa(f.Same) + " that come later, first in " + f.Ref
	}
	return cmp.Or(f.Ref, "in this request")
}
