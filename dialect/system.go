package dialect

import (
	"fmt"
	"strconv"

	"github.com/retake-debugger/retake/transcript"
)

// SetSystem gives body with another system prompt, and says where it stands and what
// stood there; at is that of the new prompt if there was none. A prompt that is one
// text part keeps its part, a longer list gives way to a string. Where the API has
// the prompt as a message it is the first one of the roles system and developer;
// further ones stay.
func SetSystem(d transcript.Dialect, body []byte, text string) (out []byte, at, was string, err error) {
	member, list := "", ""
	switch d {
	case transcript.Messages:
		member = "system"
	case transcript.Responses:
		member, list = "instructions", "input"
	case transcript.Chat:
		list = "messages"
	default:
		return nil, "", "", fmt.Errorf("set system prompt: unknown dialect %q", d)
	}
	if !valid(body) {
		return nil, "", "", fmt.Errorf("set system prompt: the body is not JSON")
	}
	root := body[skipSpace(body, 0):]
	at = "/" + member
	if now := get(root, member); member == "" || !has(now) && list != "" {
		for i, m := range elements(get(root, list)) {
			if role := str(get(m, "role")); role == "system" || role == "developer" {
				at = "/" + list + "/" + strconv.Itoa(i) + "/content"
				break
			}
		}
	}
	value := quote(text)
	if at == "/" { // chat without one
		at = "/messages/0"
		out, err = Apply(body, Edit{Op: Insert, At: at, Value: []byte(`{"role":"system","content":` + string(value) + `}`)})
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
	path, err := tokens(at)
	if err != nil {
		return nil, "", err
	}
	old, err := locate(body, path)
	if err != nil {
		out, err = insert(body, at, value)
		return out, "", err
	}
	var now transcript.Item
	readResult(&now, body[old.start:old.end])
	if only, ok := onlyText(body, old); ok {
		old = only
	}
	if isString(body[old.start:old.end]) && str(body[old.start:old.end]) == str(value) {
		return body, now.Text, nil
	}
	return splice(body, old.start, old.end, value), now.Text, nil
}
