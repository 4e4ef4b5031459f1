package web

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/transcript"
)

// read copies the form's values into the page and returns the edits.
func (p *replayPage) read(c *gin.Context) []typedEdit {
	p.rework(c.Request.PostForm)
	p.readMode(c)
	return append(p.readSettings(c), p.edits(c)...)
}

// readSettings reads model, system prompt and parameters.
func (p *replayPage) readSettings(c *gin.Context) (edits []typedEdit) {
	if model := strings.TrimSpace(c.DefaultPostForm("model", p.Model)); model != "" && model != p.Model {
		p.Model = model
		edits = append(edits, typedEdit{Edit: transcript.Edit{Op: transcript.SetModel, Text: model}, Undo: "model"})
	}
	if system, changed := typed(p.System, c.DefaultPostForm("system", p.System)); changed && p.SystemOf == "" {
		p.System = system
		edits = append(edits, typedEdit{Edit: transcript.Edit{Op: transcript.SetSystem, Text: system}, Undo: "system"})
	}
	p.Params = c.PostForm("params")
	for line := range strings.Lines(p.Params) {
		line = strings.TrimSpace(line)
		name, value, ok := strings.Cut(line, "=")
		if line == "" {
			continue
		}
		value = strings.TrimSpace(value)
		if !ok || !json.Valid([]byte(value)) {
			p.Wrong = "A parameter is NAME=JSON, such as temperature=0 or stop=[\"END\"], one a line."
			return nil
		}
		name = strings.TrimSpace(name)
		edits = append(edits, typedEdit{Edit: transcript.Edit{Op: transcript.SetParam, Text: name, Value: json.RawMessage(value)}, Undo: "param." + name})
	}
	return edits
}

// typed returns the text of a form field, and whether the user changed it. Forms
// send every line end as CR LF.
func typed(was, now string) (string, bool) {
	now = strings.ReplaceAll(now, "\r\n", "\n")
	plainWas := strings.ReplaceAll(was, "\r\n", "\n")
	if now == plainWas {
		return was, false
	}
	if plainWas != was && !strings.Contains(strings.ReplaceAll(was, "\r\n", ""), "\n") {
		now = strings.ReplaceAll(now, "\n", "\r\n")
	}
	return now, true
}

// readMode reads how far the replay goes and, for a sample, what is checked.
func (p *replayPage) readMode(c *gin.Context) {
	if mode := c.PostForm("mode"); mode == modeOnce || mode == modeSample {
		p.Mode = mode
	}
	if n, err := strconv.Atoi(c.PostForm("takes")); err == nil {
		p.Takes = min(max(n, 1), mostSampled)
	}
	p.Models = strings.ReplaceAll(c.PostForm("models"), "\r\n", "\n")
	if to := c.PostForm("to"); dialect.Known(transcript.Dialect(to)) {
		p.To = to
	}
	p.Looking.read(c)
	if wrong := p.How.read(c); wrong != "" {
		p.Wrong = wrong
	}
}

// chosen returns a digest of a form, so that what is sent is what was shown.
func chosen(form url.Values) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(form)) {
		switch name {
		case "form", "send", "planned", "force":
			continue
		}
		for _, v := range form[name] {
			fmt.Fprintf(h, "%q=%q\n", name, strings.ReplaceAll(v, "\r\n", "\n"))
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}
