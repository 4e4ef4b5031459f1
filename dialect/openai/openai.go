// Package openai writes what Chat Completions and Responses have in common.
package openai

import (
	"strconv"
	"strings"

	"github.com/retake-debugger/retake/dialect/draft"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// Writer writes what Chat Completions and Responses have in common. Chat wraps a
// thing in an object of its kind: {"type":"function","function":{…}}.
type Writer struct {
	*draft.Draft
	Wraps bool
}

// NoArguments is the schema of a tool that has none.
const NoArguments = `{"type":"object","properties":{}}`

// Parts writes parts as parts. Assistants say
// nothing but text; so do the tools of chat.
func (d Writer) Parts(u *draft.Utterance) [][]byte {
	var out [][]byte
	onlyText := u.Role == "assistant" || u.Kind == transcript.System || u.Kind == transcript.ToolResult && d.Wraps
	for i := range u.Parts {
		p := &u.Parts[i]
		if onlyText && p.Kind > draft.RefusalPart {
			d.Lose(draft.PartDropped, p.At, "only text may stand there")
			continue
		}
		var f rawjson.Object
		switch wraps := d.Wraps; p.Kind {
		case draft.TextPart:
			f.Set("type", rawjson.Quote(d.textType(u)))
			f.Set("text", p.Text)
		case draft.RefusalPart:
			if u.Role == "assistant" {
				f.Set("type", []byte(`"refusal"`))
				f.Set("refusal", p.Text)
			} else {
				f.Set("type", rawjson.Quote(d.textType(u)))
				f.Set("text", p.Text)
				d.Change(draft.PartRewritten, p.At, "refusal", "text", "only an assistant refuses")
			}
		case draft.ImagePart:
			if wraps && p.URL == "" {
				d.Lose(draft.PartDropped, p.At, "chat knows no images by their file id")
				continue
			}
			openAIImagePart(&f, p, wraps)
		case draft.FilePart:
			if wraps && p.FileID == "" && !strings.HasPrefix(p.URL, "data:") {
				d.Lose(draft.PartDropped, p.At, "chat knows no files by their URL")
				continue
			}
			openAIFilePart(&f, p, wraps)
		case draft.SoundPart:
			f.Set("type", []byte(`"input_audio"`))
			f.Set("input_audio", p.Sound)
		}
		out = append(out, f.Bytes())
	}
	return out
}

func (d Writer) textType(u *draft.Utterance) string {
	switch {
	case d.Wraps:
		return "text"
	case u.Role == "assistant":
		return "output_text"
	}
	return "input_text"
}

func openAIImagePart(f *rawjson.Object, p *draft.Part, wraps bool) {
	if wraps {
		image := rawjson.Object{}
		image.Set("url", rawjson.Quote(p.URL))
		if rawjson.Present(p.Detail) {
			image.Set("detail", p.Detail)
		}
		f.Set("type", []byte(`"image_url"`))
		f.Set("image_url", image.Bytes())
		return
	}
	f.Set("type", []byte(`"input_image"`))
	if p.URL != "" {
		f.Set("image_url", rawjson.Quote(p.URL))
	}
	if p.FileID != "" {
		f.Set("file_id", rawjson.Quote(p.FileID))
	}
	if rawjson.Present(p.Detail) {
		f.Set("detail", p.Detail)
	}
}

func openAIFilePart(f *rawjson.Object, p *draft.Part, wraps bool) {
	var file rawjson.Object
	if p.Name != "" {
		file.Set("filename", rawjson.Quote(p.Name))
	}
	switch {
	case p.FileID != "":
		file.Set("file_id", rawjson.Quote(p.FileID))
	case strings.HasPrefix(p.URL, "data:"):
		file.Set("file_data", rawjson.Quote(p.URL))
	default:
		file.Set("file_url", rawjson.Quote(p.URL))
	}
	if wraps {
		f.Set("type", []byte(`"file"`))
		f.Set("file", file.Bytes())
		return
	}
	f.Set("type", []byte(`"input_file"`))
	f.Merge(&file)
}

// ContentOf writes what an utterance says.
func (d Writer) ContentOf(u *draft.Utterance) []byte {
	if u.Plain && len(u.Parts) == 1 && u.Parts[0].Kind == draft.TextPart {
		return u.Parts[0].Text
	}
	parts := d.Parts(u)
	if len(parts) == 0 {
		return []byte(`""`)
	}
	return rawjson.Array(parts)
}

// WriteTools writes the definitions.
func (d Writer) WriteTools(out *rawjson.Object) {
	if len(d.Tools) == 0 {
		return
	}
	all := make([][]byte, len(d.Tools))
	for i := range d.Tools {
		all[i] = d.tool(&d.Tools[i])
	}
	out.Set("tools", rawjson.Array(all))
}

func (d Writer) tool(t *draft.Tool) []byte {
	wraps := d.Wraps
	var f rawjson.Object
	f.Set("name", rawjson.Quote(t.Name))
	if rawjson.Present(t.Description) {
		f.Set("description", t.Description)
	}
	kind := "function"
	switch {
	case t.Free:
		kind = "custom"
		if rawjson.Present(t.Grammar) {
			f.Set("format", d.grammar(t.Grammar))
		}
	default:
		if t.Schema != nil {
			f.Set("parameters", t.Schema)
		} else if !wraps {
			f.Set("parameters", []byte(NoArguments))
		}
		if rawjson.Present(t.Strict) {
			f.Set("strict", t.Strict)
		} else if !wraps { // where it is on unless it is off
			f.Set("strict", []byte("false"))
		}
	}
	if wraps {
		return []byte(`{"type":"` + kind + `","` + kind + `":` + string(f.Bytes()) + `}`)
	}
	whole := rawjson.Object{}
	whole.Set("type", rawjson.Quote(kind))
	whole.Merge(&f)
	return whole.Bytes()
}

// grammar writes the format of free text: chat has an object around what
// responses has beside the type.
func (d Writer) grammar(v []byte) []byte {
	inner := rawjson.Get(v, "grammar")
	switch {
	case rawjson.String(rawjson.Get(v, "type")) != "grammar":
	case !d.Wraps && rawjson.IsObject(inner):
		f := rawjson.Object{}
		f.Set("type", []byte(`"grammar"`))
		f.Overlay(inner)
		return f.Bytes()
	case d.Wraps && inner == nil:
		if without, err := rawjson.Apply(v, rawjson.Edit{Op: rawjson.Delete, At: "/type"}); err == nil {
			return []byte(`{"type":"grammar","grammar":` + string(without) + `}`)
		}
	}
	return v
}

// WriteChoice writes which tools may or must be called.
func (d Writer) WriteChoice(out *rawjson.Object) {
	switch {
	case d.Choice == nil:
		return
	case len(d.Tools) == 0 && d.Wraps:
		d.Lose(draft.ParameterDropped, d.Choice.At, "the other dialect takes no choice without tools")
		return
	}
	c := d.Choice
	v := rawjson.Quote(c.Mode)
	switch c.Mode {
	case "one":
		v = d.chosen(c.Names[0])
	case "allowed":
		refs := make([][]byte, len(c.Names))
		for i, n := range c.Names {
			refs[i] = d.chosen(n)
		}
		mode := "auto"
		if c.Must {
			mode = "required"
		}
		inner := `"mode":"` + mode + `","tools":` + string(rawjson.Array(refs))
		if d.Wraps {
			inner = `"allowed_tools":{` + inner + `}`
		}
		v = []byte(`{"type":"allowed_tools",` + inner + `}`)
	}
	out.Set("tool_choice", v)
}

func (d Writer) chosen(c draft.Chosen) []byte {
	kind := "function"
	if c.Free {
		kind = "custom"
	}
	if name := string(rawjson.Quote(c.Name)); d.Wraps {
		return []byte(`{"type":"` + kind + `","` + kind + `":{"name":` + name + `}}`)
	} else {
		return []byte(`{"type":"` + kind + `","name":` + name + `}`)
	}
}

// Schema writes the schema of a format with what stands beside it.
func (d Writer) Schema(f *draft.Format) []byte {
	var schema rawjson.Object
	if f.Kind == "json_schema" {
		for _, m := range f.Rest {
			schema.Set(m.Name, m.V)
		}
		if schema.Get("name") == nil {
			schema.Set("name", []byte(`"answer"`))
			d.Change(draft.ParameterAdded, "", "", "answer", "the other dialect wants a name for the schema")
		}
		if f.Schema != nil {
			schema.Set("schema", f.Schema)
		}
	}
	return schema.Bytes()
}

// LostMark lists what a result says besides its text.
func (d Writer) LostMark(u *draft.Utterance) {
	if u.IsError {
		d.Change(draft.ErrorMarkDropped, u.At, strconv.FormatBool(u.IsError), "", "only messages marks results as errors")
	}
}
