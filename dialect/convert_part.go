package dialect

import (
	"strings"

	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

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

// openAIParts writes pieces as parts of chat or responses. Assistants say
// nothing but text; so do the tools of chat.
func (d *draft) openAIParts(u *utterance) [][]byte {
	var out [][]byte
	onlyText := u.role == "assistant" || u.kind == transcript.System || u.kind == transcript.ToolResult && d.to == transcript.Chat
	for i := range u.pieces {
		p := &u.pieces[i]
		if onlyText && p.kind > refusalPiece {
			d.lose(PartDropped, p.at, "only text may stand there")
			continue
		}
		var f rawjson.Object
		switch chat := d.to == transcript.Chat; p.kind {
		case textPiece:
			f.Set("type", rawjson.Quote(d.textType(u)))
			f.Set("text", p.text)
		case refusalPiece:
			if u.role == "assistant" {
				f.Set("type", []byte(`"refusal"`))
				f.Set("refusal", p.text)
			} else {
				f.Set("type", rawjson.Quote(d.textType(u)))
				f.Set("text", p.text)
				d.change(PartRewritten, p.at, "refusal", "text", "only an assistant refuses")
			}
		case imagePiece:
			if chat && p.url == "" {
				d.lose(PartDropped, p.at, "chat knows no images by their file id")
				continue
			}
			openAIImagePart(&f, p, chat)
		case filePiece:
			if chat && p.fileID == "" && !strings.HasPrefix(p.url, "data:") {
				d.lose(PartDropped, p.at, "chat knows no files by their URL")
				continue
			}
			openAIFilePart(&f, p, chat)
		case soundPiece:
			f.Set("type", []byte(`"input_audio"`))
			f.Set("input_audio", p.sound)
		}
		out = append(out, f.Bytes())
	}
	return out
}

func (d *draft) textType(u *utterance) string {
	switch {
	case d.to == transcript.Chat:
		return "text"
	case u.role == "assistant":
		return "output_text"
	}
	return "input_text"
}

func openAIImagePart(f *rawjson.Object, p *piece, chat bool) {
	if chat {
		image := rawjson.Object{}
		image.Set("url", rawjson.Quote(p.url))
		if rawjson.Present(p.detail) {
			image.Set("detail", p.detail)
		}
		f.Set("type", []byte(`"image_url"`))
		f.Set("image_url", image.Bytes())
		return
	}
	f.Set("type", []byte(`"input_image"`))
	if p.url != "" {
		f.Set("image_url", rawjson.Quote(p.url))
	}
	if p.fileID != "" {
		f.Set("file_id", rawjson.Quote(p.fileID))
	}
	if rawjson.Present(p.detail) {
		f.Set("detail", p.detail)
	}
}

func openAIFilePart(f *rawjson.Object, p *piece, chat bool) {
	var file rawjson.Object
	if p.name != "" {
		file.Set("filename", rawjson.Quote(p.name))
	}
	switch {
	case p.fileID != "":
		file.Set("file_id", rawjson.Quote(p.fileID))
	case strings.HasPrefix(p.url, "data:"):
		file.Set("file_data", rawjson.Quote(p.url))
	default:
		file.Set("file_url", rawjson.Quote(p.url))
	}
	if chat {
		f.Set("type", []byte(`"file"`))
		f.Set("file", file.Bytes())
		return
	}
	f.Set("type", []byte(`"input_file"`))
	f.Merge(&file)
}

// content writes what an utterance says for chat and responses.
func (d *draft) openAIContent(u *utterance) []byte {
	if u.plain && len(u.pieces) == 1 && u.pieces[0].kind == textPiece {
		return u.pieces[0].text
	}
	parts := d.openAIParts(u)
	if len(parts) == 0 {
		return []byte(`""`)
	}
	return rawjson.Array(parts)
}

// blocks writes pieces as content blocks of messages.
func (d *draft) blocks(u *utterance) [][]byte {
	var out [][]byte
	for i := range u.pieces {
		p := &u.pieces[i]
		switch {
		case p.kind <= refusalPiece:
			if strings.TrimSpace(rawjson.Unquote(p.text)) == "" {
				if u.kind != transcript.ToolResult || len(rawjson.Unquote(p.text)) > 0 {
					d.change(TextDropped, p.at, rawjson.Unquote(p.text), "", "messages refuses text that says nothing")
				}
				continue
			}
			if p.kind == refusalPiece {
				d.change(PartRewritten, p.at, "refusal", "text", "messages has no part for a refusal")
			}
			out = append(out, []byte(`{"type":"text","text":`+string(p.text)+`}`))
		case (u.role == "assistant" || u.kind == transcript.System) && u.kind != transcript.ToolResult:
			d.lose(PartDropped, p.at, "only text may stand there")
		case p.kind == soundPiece:
			d.lose(PartDropped, p.at, "messages takes no sound")
		case p.url == "":
			d.lose(PartDropped, p.at, "another provider holds the file")
		default:
			d.blockExtras(p)
			out = append(out, sourceBlock(p))
		}
	}
	return out
}

// blockExtras lists what a block does not say of a file.
func (d *draft) blockExtras(p *piece) {
	switch {
	case rawjson.Present(p.detail):
		d.change(MemberDropped, p.at, rawjson.Scalar(p.detail), "", "messages has no detail of images")
	case p.name != "":
		d.change(MemberDropped, p.at, p.name, "", "messages has no names of files")
	}
	if p.fileID != "" {
		d.change(MemberDropped, p.at, p.fileID, "", "another provider holds the file")
	}
}

func sourceBlock(p *piece) []byte {
	kind := "image"
	if p.kind == filePiece {
		kind = "document"
	}
	var source rawjson.Object
	if head, data, ok := strings.Cut(p.url, ";base64,"); ok && strings.HasPrefix(head, "data:") {
		source.Set("type", []byte(`"base64"`))
		source.Set("media_type", rawjson.Quote(strings.TrimPrefix(head, "data:")))
		source.Set("data", rawjson.Quote(data))
	} else {
		source.Set("type", []byte(`"url"`))
		source.Set("url", rawjson.Quote(p.url))
	}
	return []byte(`{"type":"` + kind + `","source":` + string(source.Bytes()) + `}`)
}
