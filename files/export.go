package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retake-debugger/retake/formats"
	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// Form is a format in which runs and exchanges are written.
type Form struct {
	Name, Help string
	Ending     string // of a file name
	One        bool   // it takes a single exchange
	All        bool   // it takes everything if nothing is chosen

	write func(*Export, io.Writer) error
}

// Forms returns all forms.
func Forms() []Form {
	return []Form{
		{Name: "jsonl", Help: "one exchange a line, as show --json prints it; all there are if\nnothing is named", Ending: "jsonl", All: true, write: (*Export).jsonl},
		{Name: "raw-request", Help: "the exact bytes of one request body, as they went over the wire", Ending: "bin", One: true, write: (*Export).rawRequest},
		{Name: "raw-response", Help: "the exact bytes of one response body", Ending: "bin", One: true, write: (*Export).rawResponse},
		{Name: "openai-chat", Help: "fine-tuning JSONL of Chat Completions: messages and tools", Ending: "jsonl", write: conversations(formats.OpenAIChat)},
		{Name: "openai-responses", Help: "instructions, input and tools of the Responses API, JSONL", Ending: "jsonl", write: conversations(formats.OpenAIResponses)},
		{Name: "anthropic", Help: "system, messages and tools of the Messages API, JSONL", Ending: "jsonl", write: conversations(formats.Anthropic)},
		{Name: "few-shot", Help: "an example to be put before a real question: see --as, --api,\n--steps, --system, --words, --max-result", Ending: "json", write: (*Export).fewShot},
		{Name: "sharegpt", Help: "conversations of from and value, JSONL", Ending: "jsonl", write: conversations(formats.ShareGPT)},
		{Name: "markdown", Help: "to be read", Ending: "md", write: conversations(formats.Markdown)},
		{Name: "html", Help: "to be read: one page that loads and runs nothing", Ending: "html", write: (*Export).html},
		{Name: "har", Help: "HTTP archive 1.2", Ending: "har", write: (*Export).har},
		{Name: "curl", Help: "a shell script that sends one request again", Ending: "sh", One: true, write: program(formats.Curl)},
		{Name: "python", Help: "the same in Python", Ending: "py", One: true, write: program(formats.Python)},
		{Name: "go", Help: "the same in Go", Ending: "go", One: true, write: program(formats.GoProgram)},
		{Name: "otlp-json", Help: "OpenTelemetry spans by the GenAI conventions", Ending: "json", write: (*Export).otlp},
		{Name: "archive", Help: "lossless, for inspect import: everything if nothing is named", Ending: "archive", All: true, write: (*Export).archive},
		{Name: "csv", Help: "the tool calls, for spreadsheets", Ending: "csv", write: (*Export).csv},
	}
}

// Options say how something is written.
type Options struct {
	Chunks    bool  // jsonl: with the arrival time of each chunk of the answers
	MaxTokens int64 // longer conversations lose their oldest rounds; 0 for no limit
	MaxResult int   // longer results are cut, in bytes; 0 for no limit
	// For few-shot: see formats.FewShot.
	As            string
	API           transcript.Dialect // "" for the API of the exchange
	Steps         []int
	System, Words bool
	First         bool // of several conversations, take the first; else they are an error
}

// UsualResult is the length at which results of an example are cut by default.
const UsualResult = 4000

// Chosen is what is exported: one exchange, or a run; neither for everything.
type Chosen struct {
	Ref      string // as the user named it
	Run      string // id
	Exchange *transcript.Exchange
}

// Export writes runs and exchanges in another form.
type Export struct {
	Options
	Reader  transcript.Reader // formats.Redacted omits secrets
	Prices  *pricing.Table
	Version string // of this program
	// Lines returns the encoder of lines of JSON; nil for encoding/json's own.
	Lines  func(io.Writer) *json.Encoder
	Chosen []Chosen
	Passes func(*transcript.Exchange) bool // other exchanges are left out; nil: all pass
	// Lost receives what the form could not carry.
	Lost formats.Losses
	// Left is called for everything that was to be written: with an error, which says
	// why it is left out. An error that it returns ends the export.
	Left func(what string, err error) error
	// Note is called with a text about what was shortened.
	Note func(string)
	// Progress is called with how far the export is; a total of 0 is unknown.
	Progress func(what string, done, total int64)

	ctx context.Context
}

// ErrSeveral says that an example is one conversation, and several were chosen.
var ErrSeveral = errors.New("an example is one conversation")

// ErrOne says that a form takes one exchange.
var ErrOne = errors.New("this form takes one exchange")

// Write writes what was chosen.
func (x *Export) Write(ctx context.Context, form *Form, w io.Writer) error {
	x.ctx = ctx
	return form.write(x, w)
}

// LeaveOut reports whether an error concerns one exchange, which is left out while
// the others are written: it is damaged, unfinished, or was pruned meanwhile.
func LeaveOut(err error) bool {
	return errors.Is(err, transcript.ErrDamaged) || errors.Is(err, transcript.ErrNotFound) || errors.Is(err, formats.ErrUnfinished) || errors.Is(err, formats.ErrNoTranscript)
}

func (x *Export) passes(e *transcript.Exchange) bool { return x.Passes == nil || x.Passes(e) }

// exchanges calls f for the chosen exchanges, oldest first; for runs with all their
// exchanges. chunks adds the arrival times of their chunks.
func (x *Export) exchanges(chunks bool, f func(*transcript.Exchange) error) error {
	done := int64(0)
	one := func(e *transcript.Exchange, err error) error {
		what := ""
		if err == nil {
			if what = view.Ref(e.N); !x.passes(e) {
				return nil
			}
			err = f(e)
			done++
			x.Progress("exporting, exchanges", done, 0)
		}
		return x.Left(what, err)
	}
	for _, c := range x.Chosen {
		if c.Exchange != nil {
			if err := one(c.Exchange, nil); err != nil {
				return err
			}
			continue
		}
		for e, err := range x.Reader.Exchanges(x.ctx, transcript.Filter{Run: c.Run, Oldest: true}) {
			if err == nil && chunks { // listings omit them
				e, err = x.Reader.Exchange(x.ctx, e.ID)
			}
			if err := one(e, err); err != nil {
				return err
			}
		}
	}
	return x.ctx.Err()
}

// leaves returns the exchanges that end the conversations of what was chosen.
func (x *Export) leaves() ([]*transcript.Exchange, error) {
	var out []*transcript.Exchange
	for _, c := range x.Chosen {
		if c.Exchange != nil {
			if x.passes(c.Exchange) {
				out = append(out, c.Exchange)
			}
			continue
		}
		ends, err := view.NewEnds(x.ctx, x.Reader, c.Run, x.Passes)
		if err != nil {
			return nil, err
		}
		for _, err := range ends.Damaged {
			if err := x.Left("", err); err != nil {
				return nil, err
			}
		}
		for range ends.Failed {
			x.Lost.Add("branches that failed")
		}
		out = append(out, ends.List...)
	}
	return out, x.ctx.Err()
}

// one returns the only exchange that was chosen.
func (x *Export) one() (*transcript.Exchange, error) {
	if len(x.Chosen) != 1 || x.Chosen[0].Exchange == nil {
		return nil, ErrOne
	}
	return x.Chosen[0].Exchange, nil
}

// everything reports whether nothing was chosen.
func (x *Export) everything() bool {
	return slices.ContainsFunc(x.Chosen, func(c Chosen) bool { return c.Exchange == nil && c.Run == "" })
}

// titleOf returns the name of a run, "" if it has none.
func (x *Export) titleOf(run string) string {
	sums, err := view.Runs(x.ctx, x.Reader, transcript.RunFilter{IDs: []string{run}}, time.Now())
	if err != nil || len(sums) == 0 {
		return ""
	}
	return sums[0].Name
}

// archive writes what was chosen, with all that users said about it.
func (x *Export) archive(w io.Writer) error {
	words := x.Reader.Before(math.MaxInt64 >> 1)
	a, err := formats.NewArchive(x.ctx, x.Reader, w, &x.Lost)
	if err != nil {
		return err
	}
	if err := x.exchanges(true, func(e *transcript.Exchange) error { return a.Add(e) }); err != nil {
		return err
	}
	return a.Close(words)
}

// mostSteps limits the numbers of steps.
const mostSteps = 100_000

// ParseSteps parses numbers and ranges of steps: 1-3,5.
func ParseSteps(s string) ([]int, error) {
	if s == "" {
		return nil, nil
	}
	var list []int
	for part := range strings.SplitSeq(s, ",") {
		from, to, ranged := strings.Cut(strings.TrimSpace(part), "-")
		low, err := strconv.Atoi(from)
		high := low
		if err == nil && ranged {
			high, err = strconv.Atoi(to)
		}
		if err != nil || low < 1 || high < low || high > mostSteps || len(list)+high-low > mostSteps {
			return nil, fmt.Errorf("%q: want numbers such as 1-3,5", s)
		}
		for n := low; n <= high; n++ {
			list = append(list, n)
		}
	}
	return list, nil
}
