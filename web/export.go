package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/files"
	"github.com/retake-debugger/retake/formats"
	"github.com/retake-debugger/retake/redact"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

const (
	previewOfExport = 12 << 10
	countedOfExport = 32 << 20 // bytes that a page counts before the download
	previewWithin   = 10 * time.Second
	mostExported    = 2 * mostSampled // references at once: a page of a sample names all its takes
)

// exportPage offers the forms. Before the download, it shows the beginning of one
// form and what that form leaves out.
type exportPage struct {
	layout
	What     string // r12, x34, "3 runs" or "everything"
	Back     string
	Path     string   // of the page
	Refs     []string // from the query
	Forms    []offered
	Chosen   string
	Redact   bool
	Options  exportOptions
	Fetch    string
	Size     int64
	AtLeast  bool // the preview stopped before the end
	Unseen   bool // the preview was not written at all
	Binary   bool
	Preview  string
	LeftOut  []string
	Notes    []string // what was shortened
	Redacted []string
	Wrong    string
}

// offered is a form as the page offers it.
type offered struct{ Name, Help string }

// exportOptions are the options of a form, as typed.
type exportOptions struct {
	As, API, Steps       string
	System, Words        bool
	MaxTokens, MaxResult string
}

// formHelp describes a form without the flags that the commands' help names.
var formHelp = map[string]string{
	"few-shot": "an example to be put before a real question",
	"jsonl":    "one exchange a line, as the API gives it",
	"archive":  "loses nothing; an import takes it in again",
}

// formsFirst are the forms that people read or send again. They come before the
// others.
var formsFirst = []string{"html", "markdown", "curl", "python", "go", "few-shot"}

// APIs returns the APIs that few-shot examples can be written for.
func (o exportOptions) APIs() []*dialect.API {
	var list []*dialect.API
	for _, name := range formats.FewShotAPIs() {
		if name != "" {
			list = append(list, dialect.Of(transcript.Dialect(name)))
		}
	}
	return list
}

// formRank returns a form's position in formsFirst, and a position after all of
// them for other forms.
func formRank(name string) int {
	if n := slices.Index(formsFirst, name); n >= 0 {
		return n
	}
	return len(formsFirst)
}

// exporting is one export.
type exporting struct {
	files.Export
	form    *files.Form
	scrub   *redact.Scrubber // nil: nothing is redacted
	notes   []string
	written int
	left    error // why something is left out
}

func (s *server) exportRun(c *gin.Context) {
	run, err := s.findRun(c.Request.Context(), c.Param("ref"))
	if err != nil {
		s.failed(c, err)
		return
	}
	ref := view.RunRef(run.N)
	s.export(c, &exportPage{What: ref, Back: runURL(run.N, 0, 0)}, []files.Chosen{{Ref: ref, Run: run.ID}})
}

func (s *server) exportExchange(c *gin.Context) {
	e, err := s.find(c.Request.Context(), c.Param("ref"))
	if err != nil {
		s.failed(c, err)
		return
	}
	ref := view.Ref(e.N)
	s.export(c, &exportPage{What: ref, Back: exchangeURL(e.N)}, []files.Chosen{{Ref: ref, Exchange: e}})
}

// exportMany exports the named references: ?ref=r1&ref=x34&ref=t5. Without any, it
// exports everything.
func (s *server) exportMany(c *gin.Context) {
	refs := c.QueryArray("ref")
	if len(refs) > mostExported {
		s.fail(c, http.StatusBadRequest, "At most "+strconv.Itoa(mostExported)+" can be exported at once; inspect export takes any number.")
		return
	}
	p := &exportPage{What: "everything", Back: "/", Path: "/export", Refs: refs}
	list := []files.Chosen{{}}
	if len(refs) > 0 {
		list = nil
		p.What = strconv.Itoa(len(refs)) + " at once"
	}
	for _, ref := range refs {
		t, err := s.locate(c, []string{ref})
		if err != nil {
			s.failed(c, err)
			return
		}
		chosen := files.Chosen{Ref: ref, Exchange: t[0].Exchange}
		if t[0].Exchange == nil {
			chosen.Run = t[0].Run.ID
		}
		list = append(list, chosen)
	}
	if len(refs) == 1 {
		p.What, p.Back = oneLine(refs[0], 40), "/"+url.PathEscape(refs[0])
	}
	s.export(c, p, list)
}

// export shows a preview of the chosen export, or sends it.
func (s *server) export(c *gin.Context, p *exportPage, list []files.Chosen) {
	p.Title, p.Chosen, p.Redact, p.Path = "Export "+p.What, c.Query("format"), c.Query("redact") != "", cmp.Or(p.Path, p.Back+"/export")
	one := len(list) == 1 && list[0].Exchange != nil
	forms := slices.DeleteFunc(files.Forms(), func(f files.Form) bool { return f.One && !one })
	slices.SortStableFunc(forms, func(a, b files.Form) int { return cmp.Compare(formRank(a.Name), formRank(b.Name)) })
	for _, f := range forms {
		p.Forms = append(p.Forms, offered{f.Name, cmp.Or(formHelp[f.Name], strings.ReplaceAll(f.Help, "\n", " "))})
	}
	p.Options = readExportOptions(c)
	if p.Chosen == "" {
		s.show(c, http.StatusOK, "export-page", p)
		return
	}
	n := slices.IndexFunc(forms, func(f files.Form) bool { return f.Name == p.Chosen })
	if n < 0 {
		s.fail(c, http.StatusBadRequest, "There is no form "+oneLine(p.Chosen, 40)+" to export. Choose one on the page without it.")
		return
	}
	x, err := s.newExport(c.Request.Context(), p, &forms[n], list)
	if err != nil {
		p.Wrong = sentence(err)
		s.show(c, http.StatusUnprocessableEntity, "export-page", p)
		return
	}
	if c.Query("fetch") != "" {
		s.fetch(c, x, p)
		return
	}
	p.Binary, p.Fetch = x.form.Name == "archive", fetchURL(c, p)
	if p.Unseen = len(p.Refs) == 0 && p.Path == "/export"; !p.Unseen {
		p.preview(c.Request.Context(), x)
	}
	s.show(c, http.StatusOK, "export-page", p)
}

// fetchURL returns the address of the download that a page previews.
func fetchURL(c *gin.Context, p *exportPage) string {
	q := c.Request.URL.Query()
	q.Set("fetch", "1")
	return p.Path + "?" + q.Encode()
}

func readExportOptions(c *gin.Context) exportOptions {
	return exportOptions{As: c.Query("as"), API: c.Query("api"), Steps: strings.TrimSpace(c.Query("steps")), System: c.Query("system") != "", Words: c.Query("words") != "",
		MaxTokens: strings.TrimSpace(c.Query("max_tokens")), MaxResult: strings.TrimSpace(c.Query("max_result"))}
}

// newExport returns the writer of an export. Its errors are shown to the user who
// chose the options.
func (s *server) newExport(ctx context.Context, p *exportPage, form *files.Form, list []files.Chosen) (*exporting, error) {
	o := &p.Options
	x := &exporting{form: form}
	x.Export = files.Export{Reader: s.reader, Prices: s.prices, Version: s.version, Chosen: list, Left: x.leave, Progress: func(string, int64, int64) {},
		Note:    func(text string) { x.notes = append(x.notes, text) },
		Options: files.Options{As: o.As, API: transcript.Dialect(o.API), System: o.System, Words: o.Words, First: true}}
	var err error
	if x.Steps, err = files.ParseSteps(o.Steps); err != nil {
		return nil, fmt.Errorf("steps %w", err)
	}
	if !slices.Contains([]string{"", "json", "python", "markdown"}, o.As) || !slices.Contains(formats.FewShotAPIs(), o.API) {
		return nil, errors.New("there is no such form of an example")
	}
	if x.MaxTokens, err = bound(o.MaxTokens, 0); err != nil {
		return nil, err
	}
	usual := 0
	if form.Name == "few-shot" {
		usual = files.UsualResult
	}
	most, err := bound(o.MaxResult, int64(usual))
	if err != nil {
		return nil, err
	}
	x.MaxResult = int(most)
	if p.Redact {
		err = x.redact(ctx)
	}
	return x, err
}

// redact makes the export read everything, the chosen exchanges included, without
// its secrets.
func (x *exporting) redact(ctx context.Context) error {
	x.scrub = redact.NewScrubber(nil)
	x.Reader = formats.NewRedacted(x.Reader, x.scrub)
	for i := range x.Chosen {
		if e := x.Chosen[i].Exchange; e != nil {
			safe, err := x.Reader.Exchange(ctx, e.ID)
			if err != nil {
				return err
			}
			x.Chosen[i].Exchange = safe
		}
	}
	return nil
}

// bound reads a number that bounds something; 0 for no bound.
func bound(text string, usual int64) (int64, error) {
	if text == "" {
		return usual, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is not a number of tokens or bytes", text)
	}
	return n, nil
}

// leave records why something is left out.
func (x *exporting) leave(what string, err error) error {
	switch {
	case err == nil:
		x.written++
		return nil
	case files.LeaveOut(err):
		x.left = err
		x.Lost.Add(strings.TrimPrefix(what+": "+err.Error(), ": "))
		return nil
	}
	return err
}

// preview writes an export as far as the page shows it.
func (p *exportPage) preview(ctx context.Context, x *exporting) {
	ctx, cancel := context.WithTimeout(ctx, previewWithin)
	defer cancel()
	out := &beginning{}
	err := x.Write(ctx, x.form, out)
	p.AtLeast = out.full || ctx.Err() != nil
	if err == nil && x.written == 0 {
		err = x.left
	}
	if err != nil && !p.AtLeast {
		p.Wrong = sentence(err)
	}
	p.Size, p.LeftOut, p.Notes = out.size, x.Lost.List(), x.notes
	if !p.Binary {
		p.Preview = string(out.text)
	}
	if x.scrub != nil {
		for _, r := range x.scrub.Report() {
			p.Redacted = append(p.Redacted, r.Kind+" "+r.Placeholder)
		}
	}
}

// beginning keeps the first bytes written and counts the rest, up to a bound.
type beginning struct {
	text []byte
	size int64
	full bool
}

var errEnough = errors.New("enough of it is written")

func (b *beginning) Write(p []byte) (int, error) {
	if b.size += int64(len(p)); b.size > countedOfExport {
		b.full = true
		return 0, errEnough
	}
	b.text = append(b.text, p[:min(len(p), previewOfExport-len(b.text))]...)
	return len(p), nil
}

// fetch sends an export as a file. If an error occurs after the first byte, it cuts
// the connection, so that no client takes half a file for a whole one.
func (s *server) fetch(c *gin.Context, x *exporting, p *exportPage) {
	c.Header("Content-Disposition", fmt.Sprintf(`attachment; filename="%s"`, exportName(x, p)))
	c.Header("Content-Type", "application/octet-stream")
	err := x.Write(c.Request.Context(), x.form, c.Writer)
	if err == nil && x.written == 0 && !c.Writer.Written() {
		err = x.left
	}
	if err == nil {
		return
	}
	if !c.Writer.Written() {
		c.Writer.Header().Del("Content-Disposition")
		s.failed(c, err)
		return
	}
	s.log.Error("export", "what", p.What, "format", x.form.Name, "error", err)
	panic(http.ErrAbortHandler)
}

// exportName returns a file name made only of numbers and fixed words.
func exportName(x *exporting, p *exportPage) string {
	ending := x.form.Ending
	if x.form.Name == "few-shot" {
		ending = cmp.Or(map[string]string{"python": "py", "markdown": "md"}[x.As], ending)
	}
	name := "retake"
	switch {
	case len(p.Refs) > 0:
		name = fmt.Sprintf("retake-%d", len(p.Refs))
	case p.Path != "/export":
		name = p.What
	}
	return name + "." + ending
}
