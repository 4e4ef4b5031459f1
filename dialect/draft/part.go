package draft

import "github.com/retake-debugger/retake/rawjson"

// Part is a part of what a message says or a tool gives.
type Part struct {
	Kind partKind
	At   string
	Text []byte // of text and refusals: a JSON string as it came

	URL    string // of images and files; also data:…;base64,…
	FileID string // of a file that OpenAI holds
	Name   string // of a file
	Detail []byte // of an image
	Sound  []byte // {data, format}
}

type partKind int

const (
	TextPart partKind = iota
	RefusalPart
	ImagePart
	FilePart
	SoundPart
)

// Says tells whether the parts are something to read.
func (u *Utterance) Says() bool {
	for i := range u.Parts {
		if u.Parts[i].Kind != TextPart || !rawjson.IsEmpty(u.Parts[i].Text) {
			return true
		}
	}
	return false
}

// Content reads what a message says: a string or a list of parts, whatever the
// dialect.
func (d *Draft) Content(u *Utterance, v []byte, at string) {
	if rawjson.IsString(v) {
		u.Plain, u.Parts = len(u.Parts) == 0, append(u.Parts, Part{Kind: TextPart, At: at, Text: v})
		return
	}
	if rawjson.IsObject(v) {
		d.Lose(PartDropped, at, "it is no list of parts")
		return
	}
	Each(v, at, func(v []byte, at string) {
		if p, ok := d.Part(v, at); ok {
			u.Plain = false
			u.Parts = append(u.Parts, p)
		}
	})
}

// Part reads one part, in the spelling of whichever dialect. It is not ok for
// what is listed as lost.
func (d *Draft) Part(v []byte, at string) (p Part, ok bool) {
	p.At = at
	if rawjson.IsString(v) {
		p.Text = v
		return p, true
	}
	listed := len(d.Losses)
	switch kind := rawjson.String(rawjson.Get(v, "type")); kind {
	case "text", "input_text", "output_text":
		p.Text = orEmpty(rawjson.Get(v, "text"))
		d.Rest(v, at, "type", "text", "id")
	case "refusal":
		p.Kind, p.Text = RefusalPart, orEmpty(rawjson.Get(v, "refusal"))
		d.Rest(v, at, "type", "refusal")
	case "thinking", "reasoning", "redacted_thinking": // Mistral puts its thinking there, too
		d.Reasoning(at, v)
		return p, false
	case "image_url", "input_image":
		ok = d.openAIImage(&p, v, at)
	case "input_file", "file", "document_url":
		ok = d.openAIFile(&p, v, at)
	case "image", "document":
		ok = d.anthropicSource(&p, v, at)
	case "input_audio":
		p.Kind, p.Sound = SoundPart, rawjson.Get(v, "input_audio")
		ok = rawjson.IsObject(p.Sound)
		d.Rest(v, at, "type", "input_audio")
	}
	if p.Kind <= RefusalPart {
		ok = rawjson.IsString(p.Text)
	}
	if !ok {
		d.Losses = d.Losses[:listed]
		d.DropItem(PartDropped, at, v, "the other dialect has no such part")
	}
	return p, ok
}

// openAIImage reads {"image_url": URL or {url, detail}} and {file_id}.
func (d *Draft) openAIImage(p *Part, v []byte, at string) bool {
	p.Kind = ImagePart
	image := rawjson.Get(v, "image_url")
	d.Rest(v, at, "type", "image_url", "detail", "file_id")
	p.Detail, p.FileID = rawjson.Get(v, "detail"), rawjson.String(rawjson.Get(v, "file_id"))
	if rawjson.IsObject(image) {
		d.Rest(image, at+"/image_url", "url", "detail")
		if inner := rawjson.Get(image, "detail"); rawjson.Present(inner) {
			p.Detail = inner
		}
		image = rawjson.Get(image, "url")
	}
	p.URL = rawjson.String(image)
	return p.URL != "" || p.FileID != ""
}

func (d *Draft) openAIFile(p *Part, v []byte, at string) bool {
	p.Kind = FilePart
	known := []string{"type", "file_id", "filename", "file_data", "file_url", "document_url"}
	if inner := rawjson.Get(v, "file"); rawjson.IsObject(inner) { // chat
		d.Rest(v, at, "type", "file")
		v, at = inner, at+"/file"
	}
	d.Rest(v, at, known...)
	p.FileID, p.Name = rawjson.String(rawjson.Get(v, "file_id")), rawjson.String(rawjson.Get(v, "filename"))
	for _, member := range [...]string{"document_url", "file_url", "file_data"} {
		if u := rawjson.Get(v, member); rawjson.IsString(u) && !rawjson.IsEmpty(u) {
			p.URL = rawjson.Unquote(u)
		}
	}
	return p.URL != "" || p.FileID != ""
}

// anthropicSource reads an image or a document.
func (d *Draft) anthropicSource(p *Part, v []byte, at string) bool {
	if p.Kind = ImagePart; rawjson.String(rawjson.Get(v, "type")) == "document" {
		p.Kind = FilePart
	}
	source := rawjson.Get(v, "source")
	switch rawjson.String(rawjson.Get(source, "type")) {
	case "base64":
		p.URL = "data:" + rawjson.String(rawjson.Get(source, "media_type")) + ";base64," + rawjson.String(rawjson.Get(source, "data"))
	case "url":
		p.URL = rawjson.String(rawjson.Get(source, "url"))
	case "text":
		p.Kind, p.Text = TextPart, orEmpty(rawjson.Get(source, "data"))
		d.Change(PartRewritten, at, "document", "text", "the other dialect has no documents of plain text")
	default: // a file that Anthropic holds, a list of blocks
		return false
	}
	d.Rest(v, at, "type", "source")
	return p.URL != "" || p.Kind == TextPart
}

func orEmpty(v []byte) []byte {
	if v == nil {
		return []byte(`""`)
	}
	return v
}
