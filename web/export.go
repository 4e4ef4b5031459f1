package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/formats"
	"github.com/retake-debugger/retake/redact"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// exportFormat is a form in which a page offers a run or an exchange.
type exportFormat struct {
	Name, Help string
	Ending     string // of the file
	One        bool   // only of a single exchange
	write      func(*exporting, io.Writer) error
}

func exportFormats() []exportFormat {
	return []exportFormat{
		{"html", "one page to be read, that loads and runs nothing", "html", false, (*exporting).html},
		{"markdown", "to be read", "md", false, conversations(formats.Markdown)},
		{"few-shot", "messages to be put before a real question", "json", false, (*exporting).fewShot},
		{"openai-chat", "fine-tuning JSONL of Chat Completions", "jsonl", false, conversations(formats.OpenAIChat)},
		{"openai-responses", "instructions, input and tools of the Responses API", "jsonl", false, conversations(formats.OpenAIResponses)},
		{"anthropic", "system, messages and tools of the Messages API", "jsonl", false, conversations(formats.Anthropic)},
		{"sharegpt", "conversations of from and value", "jsonl", false, conversations(formats.ShareGPT)},
		{"jsonl", "one exchange a line, as the API gives it", "jsonl", false, (*exporting).jsonl},
		{"curl", "a shell script that sends the request again", "sh", true, program(formats.Curl)},
		{"python", "the same in Python", "py", true, program(formats.Python)},
		{"go", "the same in Go", "go", true, program(formats.GoProgram)},
	}
}

const (
	previewOfExport = 12 << 10
	longestResult   = 4000 // bytes of a tool result in an example
)

// exportPage offers the forms, and shows the beginning of one and what it leaves
// out, before it is fetched.
type exportPage struct {
	layout
	What     string // r12 or x34
	Back     string
	Formats  []exportFormat
	Chosen   string
	Redact   bool
	Fetch    string
	Size     int64
	Preview  string
	LeftOut  []string
	Redacted []string
	Wrong    string
}

// exporting is one export.
type exporting struct {
	*server
	c        *gin.Context
	reader   transcript.Reader
	run      *transcript.Run      // nil for an exchange
	exchange *transcript.Exchange // nil for a run
	lost     formats.Losses
}

func (s *server) exportRun(c *gin.Context) {
	run, err := s.findRun(c.Request.Context(), c.Param("ref"))
	if err != nil {
		s.failed(c, err)
		return
	}
	s.export(c, &exporting{server: s, c: c, run: run}, view.RunRef(run.N), runURL(run.N, 0, 0))
}

func (s *server) exportExchange(c *gin.Context) {
	e, err := s.find(c.Request.Context(), c.Param("ref"))
	if err != nil {
		s.failed(c, err)
		return
	}
	s.export(c, &exporting{server: s, c: c, exchange: e}, view.Ref(e.N), exchangeURL(e.N))
}

func (s *server) export(c *gin.Context, x *exporting, what, back string) {
	p := &exportPage{layout: layout{Title: "Export " + what}, What: what, Back: back, Chosen: c.Query("format"), Redact: c.Query("redact") != ""}
	for _, f := range exportFormats() {
		if !f.One || x.exchange != nil {
			p.Formats = append(p.Formats, f)
		}
	}
	n := slices.IndexFunc(p.Formats, func(f exportFormat) bool { return f.Name == p.Chosen })
	if p.Chosen == "" {
		s.show(c, http.StatusOK, "export-page", p)
		return
	}
	if n < 0 {
		s.fail(c, http.StatusBadRequest, "There is no such form to export.")
		return
	}
	var scrub *redact.Scrubber
	if x.reader = s.reader; p.Redact {
		scrub = redact.NewScrubber(nil)
		x.reader = formats.NewRedacted(s.reader, scrub)
	}
	if c.Query("fetch") != "" {
		x.fetch(what, &p.Formats[n])
		return
	}
	out := &beginning{}
	if err := p.Formats[n].write(x, out); err != nil {
		p.Wrong = sentence(err)
	}
	p.Size, p.Preview, p.LeftOut = out.size, string(out.text), x.lost.List()
	if scrub != nil {
		for _, r := range scrub.Report() {
			p.Redacted = append(p.Redacted, r.Kind+" "+r.Placeholder)
		}
	}
	q := url.Values{"format": {p.Chosen}, "fetch": {"1"}}
	if p.Redact {
		q.Set("redact", "1")
	}
	p.Fetch = back + "/export?" + q.Encode()
	s.show(c, http.StatusOK, "export-page", p)
}

// beginning keeps the beginning of what is written, and counts the rest.
type beginning struct {
	text []byte
	size int64
}

func (b *beginning) Write(p []byte) (int, error) {
	b.size += int64(len(p))
	b.text = append(b.text, p[:min(len(p), previewOfExport-len(b.text))]...)
	return len(p), nil
}

// fetch sends the export as a file. An error after its beginning cuts the
// connection: half a file is not taken for a whole one.
func (x *exporting) fetch(what string, f *exportFormat) {
	x.c.Header("Content-Disposition", fmt.Sprintf(`attachment; filename="%s.%s"`, what, f.Ending)) // what is a letter and a number
	x.c.Header("Content-Type", "application/octet-stream")
	err := f.write(x, x.c.Writer)
	if err == nil {
		return
	}
	if !x.c.Writer.Written() {
		x.c.Writer.Header().Del("Content-Disposition")
		x.failed(x.c, err)
		return
	}
	x.log.Error("export", "what", what, "format", f.Name, "error", err)
	panic(http.ErrAbortHandler)
}

func (x *exporting) decode(e *transcript.Exchange) (*transcript.Turn, error) {
	return view.Decode(x.c.Request.Context(), x.reader, e)
}

// each reads the conversations, one after the other. Those that cannot be
// written are told among the losses, unless there is no other.
func (x *exporting) each(f func(*formats.Conversation) error) error {
	list := []*transcript.Exchange{x.exchange}
	if x.run != nil {
		ends, err := view.NewEnds(x.c.Request.Context(), x.reader, x.run.ID, nil)
		if err != nil {
			return err
		}
		list = ends.List
		for range ends.Damaged {
			x.lost.Add("exchanges that are damaged")
		}
		for range ends.Failed {
			x.lost.Add("branches that failed")
		}
	}
	var left error
	written := 0
	for _, e := range list {
		c, err := formats.NewConversation(x.c.Request.Context(), x.reader, e, x.decode)
		if err == nil {
			err = f(c)
		}
		switch {
		case err == nil:
			written++
		case errors.Is(err, formats.ErrUnfinished), errors.Is(err, formats.ErrNoTranscript), errors.Is(err, transcript.ErrDamaged):
			left = err
			x.lost.Add(view.Ref(e.N) + ": " + err.Error())
		default:
			return err
		}
	}
	if written == 0 {
		return left
	}
	return nil
}

func conversations(write func(io.Writer, *formats.Conversation, *formats.Losses) error) func(*exporting, io.Writer) error {
	return func(x *exporting, w io.Writer) error {
		return x.each(func(c *formats.Conversation) error { return write(w, c, &x.lost) })
	}
}

func (x *exporting) html(w io.Writer) error {
	var list []*formats.Conversation
	if err := x.each(func(c *formats.Conversation) error { list = append(list, c); return nil }); err != nil {
		return err
	}
	return formats.HTML(w, "", list, &x.lost)
}

// fewShot writes the first conversation: an example is one.
func (x *exporting) fewShot(w io.Writer) error {
	first := true
	return x.each(func(c *formats.Conversation) error {
		if !first {
			x.lost.Add("further conversations of the run: an example is one")
			return nil
		}
		first = false
		if c.Cut(longestResult) > 0 {
			x.lost.Add("the rest of long results")
		}
		return formats.FewShot{API: c.Exchange.Dialect}.Write(w, c, &x.lost)
	})
}

// exchanges gives those of the run, oldest first, or the one.
func (x *exporting) exchanges(f func(*transcript.Exchange) error) error {
	ctx := x.c.Request.Context()
	if x.run == nil {
		e, err := x.reader.Exchange(ctx, x.exchange.ID)
		if err != nil {
			return err
		}
		return f(e)
	}
	for e, err := range x.reader.Exchanges(ctx, transcript.Filter{Run: x.run.ID, Oldest: true}) {
		if errors.Is(err, transcript.ErrDamaged) {
			x.lost.Add("exchanges that are damaged")
			continue
		}
		if err == nil { // listings leave the arrival times out
			e, err = x.reader.Exchange(ctx, e.ID)
		}
		if err == nil {
			err = f(e)
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (x *exporting) jsonl(w io.Writer) error {
	lines := json.NewEncoder(w)
	return x.exchanges(func(e *transcript.Exchange) error {
		v, err := view.NewExchange(x.c.Request.Context(), x.reader, e)
		if err != nil {
			return err
		}
		v.Price(x.prices)
		return lines.Encode(v)
	})
}

// program makes an export of what writes one request as a program.
func program(write func(io.Writer, *formats.Request) error) func(*exporting, io.Writer) error {
	return func(x *exporting, w io.Writer) error {
		r, err := replay.Prepare(x.c.Request.Context(), x.reader, x.exchange, nil)
		if err != nil {
			return err
		}
		written, err := r.Write()
		if err != nil {
			return err
		}
		for _, name := range r.Dropped {
			x.lost.Add("header " + name + ": its value is not stored")
		}
		return write(w, (*formats.Request)(written))
	}
}
