package messages

import (
	"strings"

	"github.com/retake-debugger/retake/dialect/draft"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// blocks writes parts as content blocks of messages.
func (w *writer) blocks(u *draft.Utterance) [][]byte {
	var out [][]byte
	for i := range u.Parts {
		p := &u.Parts[i]
		switch {
		case p.Kind <= draft.RefusalPart:
			if strings.TrimSpace(rawjson.Unquote(p.Text)) == "" {
				if u.Kind != transcript.ToolResult || len(rawjson.Unquote(p.Text)) > 0 {
					w.Change(draft.TextDropped, p.At, rawjson.Unquote(p.Text), "", "messages refuses text that says nothing")
				}
				continue
			}
			if p.Kind == draft.RefusalPart {
				w.Change(draft.PartRewritten, p.At, "refusal", "text", "messages has no part for a refusal")
			}
			out = append(out, []byte(`{"type":"text","text":`+string(p.Text)+`}`))
		case (u.Role == "assistant" || u.Kind == transcript.System) && u.Kind != transcript.ToolResult:
			w.Lose(draft.PartDropped, p.At, "only text may stand there")
		case p.Kind == draft.SoundPart:
			w.Lose(draft.PartDropped, p.At, "messages takes no sound")
		case p.URL == "":
			w.Lose(draft.PartDropped, p.At, "another provider holds the file")
		default:
			w.blockExtras(p)
			out = append(out, sourceBlock(p))
		}
	}
	return out
}

// blockExtras lists what a block does not say of a file.
func (w *writer) blockExtras(p *draft.Part) {
	switch {
	case rawjson.Present(p.Detail):
		w.Change(draft.MemberDropped, p.At, rawjson.Scalar(p.Detail), "", "messages has no detail of images")
	case p.Name != "":
		w.Change(draft.MemberDropped, p.At, p.Name, "", "messages has no names of files")
	}
	if p.FileID != "" {
		w.Change(draft.MemberDropped, p.At, p.FileID, "", "another provider holds the file")
	}
}

func sourceBlock(p *draft.Part) []byte {
	kind := "image"
	if p.Kind == draft.FilePart {
		kind = "document"
	}
	var source rawjson.Object
	if head, data, ok := strings.Cut(p.URL, ";base64,"); ok && strings.HasPrefix(head, "data:") {
		source.Set("type", []byte(`"base64"`))
		source.Set("media_type", rawjson.Quote(strings.TrimPrefix(head, "data:")))
		source.Set("data", rawjson.Quote(data))
	} else {
		source.Set("type", []byte(`"url"`))
		source.Set("url", rawjson.Quote(p.URL))
	}
	return []byte(`{"type":"` + kind + `","source":` + string(source.Bytes()) + `}`)
}
