package dialect

import (
	"strings"

	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// blocks writes pieces as content blocks of messages.
func (d *messagesWriter) blocks(u *utterance) [][]byte {
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
func (d *messagesWriter) blockExtras(p *piece) {
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
