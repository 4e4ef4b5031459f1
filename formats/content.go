package formats

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

// part is one part of a message or a result.
type part struct {
	text      string // "" for an image
	image     string // URL of an image, also data:…;base64,…
	other     string // another type: "document", "input_audio" …
	refusal   bool
	isText    bool
	raw       json.RawMessage
	mediaType string // of an image in the message
	data      string // its base64
}

// anyPart is a part in the spelling of any API.
type anyPart struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Refusal  string          `json:"refusal"`
	ImageURL json.RawMessage `json:"image_url"`
	Source   struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
		URL       string `json:"url"`
	} `json:"source"`
	Content json.RawMessage `json:"content"`
	Output  json.RawMessage `json:"output"`
}

// partsOf returns the parts of an item. An item that is only text is one part.
func partsOf(it *transcript.Item) []part {
	if len(it.Parts) == 0 {
		if it.Text == "" {
			return nil
		}
		return []part{{text: it.Text, isText: true}}
	}
	var p anyPart
	if json.Unmarshal(it.Raw, &p) != nil {
		return textAlone(it)
	}
	list := p.Content
	if it.Kind == transcript.ToolResult && len(p.Output) > 0 {
		list = p.Output
	}
	var raws []json.RawMessage
	switch {
	case it.Kind == transcript.MessageItem && p.Type != "" && p.Type != "message" && p.Type != "text":
		raws = []json.RawMessage{it.Raw} // a block that is an item by itself
	case json.Unmarshal(list, &raws) != nil:
		return textAlone(it)
	}
	parts := make([]part, 0, len(raws))
	for _, raw := range raws {
		parts = append(parts, readPart(raw))
	}
	return parts
}

func textAlone(it *transcript.Item) []part {
	return []part{{text: it.Text, isText: true}, {other: "content of another kind", raw: it.Raw}}
}

func readPart(raw json.RawMessage) part {
	out := part{raw: raw}
	var p anyPart
	if json.Unmarshal(raw, &p) != nil {
		var text string
		if json.Unmarshal(raw, &text) == nil {
			return part{text: text, isText: true, raw: raw}
		}
		out.other = "content of another kind"
		return out
	}
	switch p.Type {
	case "text", "input_text", "output_text":
		out.text, out.isText = p.Text, true
	case "refusal":
		out.text, out.isText, out.refusal = p.Refusal, true, true
	case "image_url", "input_image":
		out.image = imageURL(p.ImageURL)
	case "image":
		switch p.Source.Type {
		case "base64":
			out.image = "data:" + p.Source.MediaType + ";base64," + p.Source.Data
		case "url":
			out.image = p.Source.URL
		}
	}
	if !out.isText && out.image == "" {
		if out.other = p.Type; out.other == "" {
			out.other = "content of another kind"
		}
	}
	if head, data, ok := strings.Cut(out.image, ";base64,"); ok && strings.HasPrefix(head, "data:") {
		out.mediaType, out.data = strings.TrimPrefix(head, "data:"), data
	}
	return out
}

// imageURL reads a URL, or an object that has one.
func imageURL(raw json.RawMessage) string {
	var url string
	if json.Unmarshal(raw, &url) == nil {
		return url
	}
	var object struct {
		URL string `json:"url"`
	}
	_ = json.Unmarshal(raw, &object) // "" if it is not a URL
	return object.URL
}

// arguments returns the arguments of a call; an empty text means no arguments.
func arguments(it *transcript.Item) string {
	if it.ArgumentsRaw == "" {
		return "{}"
	}
	return it.ArgumentsRaw
}

// argumentsObject returns the arguments as a JSON object. ok is false if they are not
// one: then the object has the text as its only member.
func argumentsObject(it *transcript.Item) (object json.RawMessage, ok bool) {
	raw := json.RawMessage(arguments(it))
	if t := bytes.TrimLeft(raw, " \t\r\n"); len(t) > 0 && t[0] == '{' && json.Valid(raw) {
		return raw, true
	}
	text, err := line(map[string]string{"input": it.ArgumentsRaw})
	if err != nil {
		return json.RawMessage("{}"), false
	}
	return text, false
}

// line returns a value as JSON on one line, without escaping letters.
func line(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(out.Bytes(), "\n"), nil
}

// indented returns a value as indented JSON.
func indented(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(out.Bytes(), "\n"), nil
}
