package main

import (
	"encoding/json"
	"fmt"

	"github.com/retake-debugger/retake/analysis"
	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
)

// dryRun is the output of replay --dry-run --json. Was and Now of Diff are null if
// that side has no such value.
type dryRun struct {
	Request json.RawMessage       `json:"request"`
	Diff    []analysis.Difference `json:"diff"`
	Edits   []transcript.Edit     `json:"edits"`
}

// printDryRun prints exactly the body that would be sent, so that it can be piped
// to another program. The difference goes to standard error.
func (a *app) printDryRun(req *replay.Request) error {
	body := req.Body
	if encoding := req.Header.Get("Content-Encoding"); encoding != "" && a.json {
		plain, err := dialect.Text(encoding, body, int64(len(body))<<10)
		if err != nil {
			return fmt.Errorf("decode request: %w", err)
		}
		body = plain
	}
	diff, ok := analysis.DiffJSON(req.Recorded, req.Body)
	if a.json {
		out := dryRun{Request: body, Diff: diff, Edits: req.Edits}
		if !rawjson.Valid(body) {
			text, err := json.Marshal(string(body))
			if err != nil {
				return fmt.Errorf("write request: %w", err)
			}
			out.Request = text
		}
		if out.Diff == nil {
			out.Diff = []analysis.Difference{}
		}
		if out.Edits == nil {
			out.Edits = []transcript.Edit{}
		}
		return a.printJSON(out)
	}
	if req.Held {
		fmt.Fprintln(a.err, "inspect: history that the provider holds was inserted from the recording")
	}
	for _, d := range diff {
		fmt.Fprintf(a.err, "%s\n  - %s\n  + %s\n", visible(d.At), aside(d.Was), aside(d.Now))
	}
	if ok && len(diff) == 0 {
		fmt.Fprintln(a.err, "no change")
	}
	_, err := a.out.Write(req.Body)
	return err
}

// aside shortens a value for one line.
func aside(v json.RawMessage) string {
	if v == nil {
		return "(nothing)"
	}
	return cut(oneLine(visible(string(v))), 160)
}
