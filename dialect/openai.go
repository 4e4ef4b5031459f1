package dialect

import (
	"strconv"
	"strings"

	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// openAI writes what Chat Completions and Responses have in common. Chat wraps a
// thing in an object of its kind: {"type":"function","function":{…}}.
type openAI struct {
	*draft
	wraps bool
}

// noArguments is the schema of a tool that has none.
const noArguments = `{"type":"object","properties":{}}`

// parts writes pieces as parts. Assistants say
// nothing but text; so do the tools of chat.
func (d openAI) parts(u *utterance) [][]byte {
	var out [][]byte
	onlyText := u.role == "assistant" || u.kind == transcript.System || u.kind == transcript.ToolResult && d.wraps
	for i := range u.pieces {
		p := &u.pieces[i]
		if onlyText && p.kind > refusalPiece {
			d.lose(PartDropped, p.at, "only text may stand there")
			continue
		}
		var f rawjson.Object
		switch chat := d.wraps; p.kind {
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

func (d openAI) textType(u *utterance) string {
	switch {
	case d.wraps:
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

// content_ writes what an utterance says.
func (d openAI) content_(u *utterance) []byte {
	if u.plain && len(u.pieces) == 1 && u.pieces[0].kind == textPiece {
		return u.pieces[0].text
	}
	parts := d.parts(u)
	if len(parts) == 0 {
		return []byte(`""`)
	}
	return rawjson.Array(parts)
}

// tools writes the definitions.
func (d openAI) tools_(out *rawjson.Object) {
	if len(d.tools) == 0 {
		return
	}
	all := make([][]byte, len(d.tools))
	for i := range d.tools {
		all[i] = d.tool(&d.tools[i])
	}
	out.Set("tools", rawjson.Array(all))
}

func (d openAI) tool(t *tool) []byte {
	chat := d.wraps
	var f rawjson.Object
	f.Set("name", rawjson.Quote(t.name))
	if rawjson.Present(t.description) {
		f.Set("description", t.description)
	}
	kind := "function"
	switch {
	case t.free:
		kind = "custom"
		if rawjson.Present(t.grammar) {
			f.Set("format", d.grammar(t.grammar))
		}
	default:
		if t.schema != nil {
			f.Set("parameters", t.schema)
		} else if !chat {
			f.Set("parameters", []byte(noArguments))
		}
		if rawjson.Present(t.strict) {
			f.Set("strict", t.strict)
		} else if !chat { // where it is on unless it is off
			f.Set("strict", []byte("false"))
		}
	}
	if chat {
		return []byte(`{"type":"` + kind + `","` + kind + `":` + string(f.Bytes()) + `}`)
	}
	whole := rawjson.Object{}
	whole.Set("type", rawjson.Quote(kind))
	whole.Merge(&f)
	return whole.Bytes()
}

// grammar writes the format of free text: chat has an object around what
// responses has beside the type.
func (d openAI) grammar(v []byte) []byte {
	inner := rawjson.Get(v, "grammar")
	switch {
	case rawjson.String(rawjson.Get(v, "type")) != "grammar":
	case !d.wraps && rawjson.IsObject(inner):
		f := rawjson.Object{}
		f.Set("type", []byte(`"grammar"`))
		f.Overlay(inner)
		return f.Bytes()
	case d.wraps && inner == nil:
		if without, err := rawjson.Apply(v, rawjson.Edit{Op: rawjson.Delete, At: "/type"}); err == nil {
			return []byte(`{"type":"grammar","grammar":` + string(without) + `}`)
		}
	}
	return v
}

// choice_ writes which tools may or must be called.
func (d openAI) choice_(out *rawjson.Object) {
	switch {
	case d.choice == nil:
		return
	case len(d.tools) == 0 && d.wraps:
		d.lose(ParameterDropped, d.choice.at, "the other dialect takes no choice without tools")
		return
	}
	c := d.choice
	v := rawjson.Quote(c.mode)
	switch c.mode {
	case "one":
		v = d.chosen(c.names[0])
	case "allowed":
		refs := make([][]byte, len(c.names))
		for i, n := range c.names {
			refs[i] = d.chosen(n)
		}
		mode := "auto"
		if c.must {
			mode = "required"
		}
		inner := `"mode":"` + mode + `","tools":` + string(rawjson.Array(refs))
		if d.wraps {
			inner = `"allowed_tools":{` + inner + `}`
		}
		v = []byte(`{"type":"allowed_tools",` + inner + `}`)
	}
	out.Set("tool_choice", v)
}

func (d openAI) chosen(c chosen) []byte {
	kind := "function"
	if c.free {
		kind = "custom"
	}
	if name := string(rawjson.Quote(c.name)); d.wraps {
		return []byte(`{"type":"` + kind + `","` + kind + `":{"name":` + name + `}}`)
	} else {
		return []byte(`{"type":"` + kind + `","name":` + name + `}`)
	}
}

// schema writes the schema of a format with what stands beside it.
func (d openAI) schema(f *format) []byte {
	var schema rawjson.Object
	if f.kind == "json_schema" {
		for _, m := range f.rest {
			schema.Set(m.name, m.v)
		}
		if schema.Get("name") == nil {
			schema.Set("name", []byte(`"answer"`))
			d.change(ParameterAdded, "", "", "answer", "the other dialect wants a name for the schema")
		}
		if f.schema != nil {
			schema.Set("schema", f.schema)
		}
	}
	return schema.Bytes()
}

// lostMark lists what a result says besides its text.
func (d openAI) lostMark(u *utterance) {
	if u.isError {
		d.change(ErrorMarkDropped, u.at, strconv.FormatBool(u.isError), "", "only messages marks results as errors")
	}
}
