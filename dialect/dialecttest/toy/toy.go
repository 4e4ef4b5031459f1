// Package toy is an API that no provider has: all that a new API needs, in one folder.
// A request is {"toy":true,"model","rules","turns":[…]} and is answered by
// {"toy":true,"turns":[…]}. A turn is {"who","says"}, {"who","id","call","with"} or
// {"who","id","back","failed"}.
package toy

import (
	"fmt"
	"strconv"

	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/dialect/draft"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// API is the descriptor.
var API = api.API{
	Name:  "toy",
	Title: "Toy",
	Claim: func(w *api.Wire, path []string) api.Claim {
		if api.IsPost(w) && api.EndsWith(path, "toy") {
			return api.Mine
		}
		return api.NotMine
	},
	IsAnswer: isToy,
	IsEvent:  func([]byte) bool { return false },
	Resembles: func(body []byte) int {
		if isToy(body) {
			return 2
		}
		return 0
	},
	Arrays:    []api.Array{{Name: "turns", History: true}},
	Decode:    func(r *api.Reader) api.Decoder { return decoder{r} },
	Arguments: arguments,
	Result:    result,
	ErrorMark: "failed",
	System:    "rules",
	Append: func(response []byte, results []api.Result) ([][]byte, error) {
		list := rawjson.Elements(rawjson.Get(response, "turns"))
		for _, r := range results {
			list = append(list, fmt.Appendf(nil, `{"who":"tool","id":%s,"back":%s}`, rawjson.Quote(r.CallID), rawjson.Quote(r.Text)))
		}
		return list, nil
	},
	Read:   read,
	Write:  write,
	Limits: draft.Limits{ID: 20, Name: 20},
	Path:   "/toy",
	Home:   "openai",
	Rules: api.Rules{
		Call:     arguments,
		ResultID: "id",
		Content:  result,
		BadID: func(id string) string {
			if len(id) > 1 {
				return "a toy counts its calls by single letters"
			}
			return ""
		},
	},
	Error: func(object []byte) []byte { return fmt.Appendf(nil, `{"oops":%s}`, object) },
	Ask: func(model, system, user string, _ int) ([]byte, error) {
		return fmt.Appendf(nil, `{"toy":true,"model":%s,"rules":%s,"turns":[{"who":"user","says":%s}]}`,
			rawjson.Quote(model), rawjson.Quote(system), rawjson.Quote(user)), nil
	},
}

func isToy(v []byte) bool { return string(rawjson.Get(v, "toy")) == "true" }

func arguments(call []byte) (string, api.Form) {
	if rawjson.Get(call, "call") == nil {
		return "", api.AsObject
	}
	return "/with", api.AsObject
}

func result(v []byte) string {
	if rawjson.Get(v, "back") == nil {
		return ""
	}
	return "back"
}

type decoder struct{ *api.Reader }

func (d decoder) Request(o *api.Outline) {
	d.Common(o)
	d.Each(o, "turns", func(v []byte, at string) { d.In(item(v, at)) }, nil)
}

func (d decoder) Response(object []byte) {
	for i, v := range rawjson.Elements(rawjson.Get(object, "turns")) {
		it := item(v, "/turns/"+strconv.Itoa(i))
		if it.Kind == transcript.MessageItem {
			d.Turn.Text += it.Text
		}
		d.Out(it)
	}
}

func (decoder) Stream() api.Assembler { return nil }

func item(v []byte, at string) transcript.Item {
	it := transcript.Item{Kind: transcript.MessageItem, Role: role(v), Text: rawjson.String(rawjson.Get(v, "says")), At: at, Raw: v,
		CallID: rawjson.String(rawjson.Get(v, "id"))}
	switch {
	case rawjson.Get(v, "call") != nil:
		it.Kind, it.Name = transcript.ToolCall, rawjson.String(rawjson.Get(v, "call"))
		api.SetArguments(&it, rawjson.Get(v, "with"))
	case rawjson.Get(v, "back") != nil:
		it.Kind = transcript.ToolResult
		api.ReadResult(&it, rawjson.Get(v, "back"))
	}
	return it
}

// role is the usual word for who speaks.
func role(turn []byte) string {
	who := rawjson.String(rawjson.Get(turn, "who"))
	if who == "model" {
		return "assistant"
	}
	return who
}

func read(d *draft.Draft, body []byte) {
	for i, v := range rawjson.Elements(rawjson.Get(body, "turns")) {
		at := "/turns/" + strconv.Itoa(i)
		d.Message++
		u := draft.Utterance{Kind: transcript.MessageItem, Role: role(v), At: at, Message: d.Message,
			ID: rawjson.String(rawjson.Get(v, "id")), Name: rawjson.String(rawjson.Get(v, "call"))}
		switch {
		case u.Name != "":
			u.Kind, u.Arguments = transcript.ToolCall, string(rawjson.Get(v, "with"))
		case rawjson.Get(v, "back") != nil:
			u.Kind = transcript.ToolResult
			d.Content(&u, rawjson.Get(v, "back"), at+"/back")
		default:
			d.Content(&u, rawjson.Get(v, "says"), at+"/says")
		}
		d.Add(u)
	}
}

// write writes what is said; a toy takes no calls of others.
func write(d *draft.Draft, out *rawjson.Object) {
	var turns [][]byte
	for i := range d.Units {
		u := &d.Units[i]
		if u.Kind != transcript.MessageItem {
			d.Lose(draft.ItemDropped, u.At, "a toy takes no calls of others")
			continue
		}
		who := u.Role
		if who == "assistant" {
			who = "model"
		}
		for _, p := range u.Parts {
			if rawjson.IsString(p.Text) {
				turns = append(turns, fmt.Appendf(nil, `{"who":%s,"says":%s}`, rawjson.Quote(who), p.Text))
			}
		}
	}
	out.Set("toy", []byte("true"))
	out.Set("turns", rawjson.Array(turns))
}
