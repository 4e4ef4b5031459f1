package api

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// SetSystem gives body with another system prompt, and says where it stands and what
// stood there; at is that of the new prompt if there was none. A prompt that is one
// text part keeps its part, a longer list gives way to a string. Where the API has
// the prompt as a message it is the first one of the roles system and developer;
// further ones stay.
func (l List) SetSystem(d transcript.Dialect, body []byte, text string) (out []byte, at, was string, err error) {
	a := l.Of(d)
	if a == nil {
		return nil, "", "", fmt.Errorf("set system prompt: unknown dialect %q", d)
	}
	member, list := a.System, a.SystemList
	if !rawjson.Valid(body) {
		return nil, "", "", fmt.Errorf("set system prompt: the body is not JSON")
	}
	root := body[rawjson.SkipSpace(body, 0):]
	at = "/" + member
	if now := rawjson.Get(root, member); member == "" || !rawjson.Present(now) && list != "" {
		for i, m := range rawjson.Elements(rawjson.Get(root, list)) {
			if role := rawjson.String(rawjson.Get(m, "role")); role == "system" || role == "developer" {
				at = "/" + list + "/" + strconv.Itoa(i) + "/content"
				break
			}
		}
	}
	value := rawjson.Quote(text)
	if at == "/" { // no message is one
		at = "/" + list + "/0"
		out, err = rawjson.Apply(body, rawjson.Edit{Op: rawjson.Insert, At: at, Value: []byte(`{"role":"system","content":` + string(value) + `}`)})
	} else {
		out, was, err = setText(body, at, value)
	}
	if err != nil {
		return nil, "", "", fmt.Errorf("set system prompt: %w", err)
	}
	return out, at, was, nil
}

// setText puts a text in the place of a text or of parts.
func setText(body []byte, at string, value []byte) (out []byte, was string, err error) {
	old, err := rawjson.Locate(body, at)
	if errors.Is(err, rawjson.ErrNoValue) {
		out, err = rawjson.Apply(body, rawjson.Edit{Op: rawjson.Insert, At: at, Value: value})
	}
	if err != nil || out != nil {
		return out, "", err
	}
	var now transcript.Item
	ReadResult(&now, body[old.Start:old.End])
	if only, ok := onlyText(body, old); ok {
		old = only
	}
	if rawjson.IsString(body[old.Start:old.End]) && rawjson.String(body[old.Start:old.End]) == rawjson.String(value) {
		return body, now.Text, nil
	}
	return rawjson.Splice(body, old.Start, old.End, value), now.Text, nil
}
