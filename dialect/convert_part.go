package dialect

import "github.com/retake-debugger/retake/rawjson"

// piece is a part of what a message says or a tool gives.
type piece struct {
	kind pieceKind
	at   string
	text []byte // of text and refusals: a JSON string as it came

	url    string // of images and files; also data:…;base64,…
	fileID string // of a file that OpenAI holds
	name   string // of a file
	detail []byte // of an image
	sound  []byte // {data, format}
}

type pieceKind int

const (
	textPiece pieceKind = iota
	refusalPiece
	imagePiece
	filePiece
	soundPiece
)

// says tells whether pieces are something to read.
func (u *utterance) says() bool {
	for i := range u.pieces {
		if u.pieces[i].kind != textPiece || !rawjson.IsEmpty(u.pieces[i].text) {
			return true
		}
	}
	return false
}

// content reads what a message says: a string or a list of parts, whatever the
// dialect.
func (d *draft) content(u *utterance, v []byte, at string) {
	if rawjson.IsString(v) {
		u.plain, u.pieces = len(u.pieces) == 0, append(u.pieces, piece{kind: textPiece, at: at, text: v})
		return
	}
	if rawjson.IsObject(v) {
		d.lose(PartDropped, at, "it is no list of parts")
		return
	}
	each(v, at, func(v []byte, at string) {
		if p, ok := d.part(v, at); ok {
			u.plain = false
			u.pieces = append(u.pieces, p)
		}
	})
}

// part reads one part, in the spelling of whichever dialect. It is not ok for
// what is listed as lost.
func (d *draft) part(v []byte, at string) (p piece, ok bool) {
	p.at = at
	if rawjson.IsString(v) {
		p.text = v
		return p, true
	}
	listed := len(d.losses)
	switch kind := rawjson.String(rawjson.Get(v, "type")); kind {
	case "text", "input_text", "output_text":
		p.text = orEmpty(rawjson.Get(v, "text"))
		d.rest(v, at, "type", "text", "id")
	case "refusal":
		p.kind, p.text = refusalPiece, orEmpty(rawjson.Get(v, "refusal"))
		d.rest(v, at, "type", "refusal")
	case "thinking", "reasoning", "redacted_thinking": // Mistral puts its thinking there, too
		d.reasoning(at, v)
		return p, false
	case "image_url", "input_image":
		ok = d.openAIImage(&p, v, at)
	case "input_file", "file", "document_url":
		ok = d.openAIFile(&p, v, at)
	case "image", "document":
		ok = d.anthropicSource(&p, v, at)
	case "input_audio":
		p.kind, p.sound = soundPiece, rawjson.Get(v, "input_audio")
		ok = rawjson.IsObject(p.sound)
		d.rest(v, at, "type", "input_audio")
	}
	if p.kind <= refusalPiece {
		ok = rawjson.IsString(p.text)
	}
	if !ok {
		d.losses = d.losses[:listed]
		d.dropItem(PartDropped, at, v, "the other dialect has no such part")
	}
	return p, ok
}

// openAIImage reads {"image_url": URL or {url, detail}} and {file_id}.
func (d *draft) openAIImage(p *piece, v []byte, at string) bool {
	p.kind = imagePiece
	image := rawjson.Get(v, "image_url")
	d.rest(v, at, "type", "image_url", "detail", "file_id")
	p.detail, p.fileID = rawjson.Get(v, "detail"), rawjson.String(rawjson.Get(v, "file_id"))
	if rawjson.IsObject(image) {
		d.rest(image, at+"/image_url", "url", "detail")
		if inner := rawjson.Get(image, "detail"); rawjson.Present(inner) {
			p.detail = inner
		}
		image = rawjson.Get(image, "url")
	}
	p.url = rawjson.String(image)
	return p.url != "" || p.fileID != ""
}

func (d *draft) openAIFile(p *piece, v []byte, at string) bool {
	p.kind = filePiece
	known := []string{"type", "file_id", "filename", "file_data", "file_url", "document_url"}
	if inner := rawjson.Get(v, "file"); rawjson.IsObject(inner) { // chat
		d.rest(v, at, "type", "file")
		v, at = inner, at+"/file"
	}
	d.rest(v, at, known...)
	p.fileID, p.name = rawjson.String(rawjson.Get(v, "file_id")), rawjson.String(rawjson.Get(v, "filename"))
	for _, member := range [...]string{"document_url", "file_url", "file_data"} {
		if u := rawjson.Get(v, member); rawjson.IsString(u) && !rawjson.IsEmpty(u) {
			p.url = rawjson.Unquote(u)
		}
	}
	return p.url != "" || p.fileID != ""
}

// anthropicSource reads an image or a document.
func (d *draft) anthropicSource(p *piece, v []byte, at string) bool {
	if p.kind = imagePiece; rawjson.String(rawjson.Get(v, "type")) == "document" {
		p.kind = filePiece
	}
	source := rawjson.Get(v, "source")
	switch rawjson.String(rawjson.Get(source, "type")) {
	case "base64":
		p.url = "data:" + rawjson.String(rawjson.Get(source, "media_type")) + ";base64," + rawjson.String(rawjson.Get(source, "data"))
	case "url":
		p.url = rawjson.String(rawjson.Get(source, "url"))
	case "text":
		p.kind, p.text = textPiece, orEmpty(rawjson.Get(source, "data"))
		d.change(PartRewritten, at, "document", "text", "the other dialect has no documents of plain text")
	default: // a file that Anthropic holds, a list of blocks
		return false
	}
	d.rest(v, at, "type", "source")
	return p.url != "" || p.kind == textPiece
}

func orEmpty(v []byte) []byte {
	if v == nil {
		return []byte(`""`)
	}
	return v
}
