package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake/cmd/internal/workspace"
	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// storedWithin bounds the wait for the commit of a replayed exchange.
const storedWithin = 30 * time.Second

type replayFlags struct {
	once      bool
	setResult []string
	keyEnv    string
	upstream  string
	dryRun    bool
}

func newReplay(a *app) *cobra.Command {
	var f replayFlags
	c := &cobra.Command{
		Use:   "replay REF --once [--set-result CALL_ID=TEXT]…",
		Short: "Send a recorded request again with a tool output changed",
		Long: `replay sends a recorded request again. --set-result gives one tool result
another text (a part of the call id will do; @FILE takes the file as it is, its last line
end too). It is spliced into the recorded bytes, all else is sent exactly as
it was. The new exchange is recorded beside the old one, and both answers are
printed. Nothing recorded is changed.

The key comes from the environment, from the variable that the provider's SDK
uses (OPENAI_API_KEY, ANTHROPIC_API_KEY …) or the one that --key-env names; it is
not stored.`,
		Example: `  inspect replay x12 --once --set-result call_abc="ok  ./...  0.3s"
  inspect replay x12 --once --set-result call_abc=@result.txt
  inspect replay x12 --once --set-result call_abc=none --dry-run`,
		Args: arguments(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if !f.once {
				return usageError{errors.New("only --once is there so far: it sends this one step again")}
			}
			edits, err := parseEdits(f.setResult)
			if err != nil {
				return err
			}
			return a.replay(c.Context(), args[0], edits, f)
		},
	}
	c.Flags().BoolVar(&f.once, "once", false, "send this one step again")
	c.Flags().StringArrayVar(&f.setResult, "set-result", nil, "CALL_ID=TEXT or CALL_ID=@FILE: the text of that tool result (repeatable)")
	c.Flags().StringVar(&f.keyEnv, "key-env", "", "environment variable that holds the key")
	c.Flags().StringVar(&f.upstream, "upstream", "", "send to this server (scheme and host) instead of the recorded one")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "print the request body that would be sent and stop")
	return c
}

func parseEdits(settings []string) ([]transcript.Edit, error) {
	var edits []transcript.Edit
	for _, s := range settings {
		id, text, ok := strings.Cut(s, "=")
		if !ok || id == "" {
			return nil, usageError{fmt.Errorf("--set-result %q: want CALL_ID=TEXT or CALL_ID=@FILE", s)}
		}
		if file, ok := strings.CutPrefix(text, "@"); ok {
			content, err := os.ReadFile(file)
			if err != nil {
				return nil, usageError{fmt.Errorf("--set-result %s: %w", id, err)}
			}
			text = string(content)
		}
		if slices.ContainsFunc(edits, func(e transcript.Edit) bool { return e.CallID == id }) {
			return nil, usageError{fmt.Errorf("--set-result %s: given twice", id)}
		}
		edits = append(edits, transcript.Edit{CallID: id, Text: text})
	}
	return edits, nil
}

// wholeIDs completes call ids that were given in part, if only one result of
// the request fits.
func wholeIDs(ctx context.Context, r transcript.Reader, origin *transcript.Exchange, edits []transcript.Edit) error {
	if len(edits) == 0 {
		return nil
	}
	turn, err := view.Decode(ctx, r, origin)
	if err != nil {
		return err
	}
	for i := range edits {
		fits := map[string]bool{}
		for k := range turn.Input {
			it := &turn.Input[k]
			if it.Kind == transcript.ToolResult && strings.Contains(it.CallID, edits[i].CallID) {
				fits[it.CallID] = true
			}
		}
		if fits[edits[i].CallID] || len(fits) == 0 {
			continue
		}
		if len(fits) > 1 {
			return usageError{fmt.Errorf("--set-result %s: fits %d call ids of the request; give more of it", edits[i].CallID, len(fits))}
		}
		for id := range fits {
			edits[i].CallID = id
		}
	}
	return nil
}

// replayed is what replay --json prints.
type replayed struct {
	Take      string             `json:"take"`
	Origin    string             `json:"origin"`
	Edits     []transcript.Edit  `json:"edits"`
	Mode      string             `json:"mode"`
	Outcome   transcript.Outcome `json:"outcome"`
	Exchange  string             `json:"exchange"`
	OldText   string             `json:"old_text"`
	FinalText string             `json:"final_text"`
	Usage     *transcript.Usage  `json:"usage"`
}

func (a *app) replay(ctx context.Context, ref string, edits []transcript.Edit, f replayFlags) error {
	path, err := a.path()
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); err != nil {
		return notFound("no database at " + path)
	}
	req, err := a.prepare(ctx, ref, edits, f)
	if err != nil || f.dryRun {
		return err
	}
	w, err := workspace.Open(ctx, path, workspace.Logger(a.err, "text"))
	if err != nil {
		return err
	}
	defer w.Close(context.WithoutCancel(ctx))
	take, e, err := a.send(ctx, w, req)
	if err != nil {
		return err
	}
	return a.printTake(ctx, w.Store(), req, take, e)
}

// prepare builds the request and finds its key. Nothing is written yet.
func (a *app) prepare(ctx context.Context, ref string, edits []transcript.Edit, f replayFlags) (*replay.Request, error) {
	db, err := a.open()
	if err != nil {
		return nil, err
	}
	defer db.Close()
	origin, err := a.resolve(ctx, db, ref)
	if err != nil {
		return nil, err
	}
	if err := wholeIDs(ctx, db, origin, edits); err != nil {
		return nil, err
	}
	req, err := replay.Prepare(ctx, db, origin, edits)
	if errors.Is(err, replay.ErrNoResult) {
		return nil, fmt.Errorf("%w; the results in it are listed by: inspect show %s", err, view.Ref(origin.N))
	}
	if err != nil {
		return nil, err
	}
	if f.upstream != "" {
		if err := req.SendTo(f.upstream); err != nil {
			return nil, usageError{err}
		}
	}
	if f.dryRun {
		_, err := a.out.Write(req.Body)
		return req, err
	}
	if len(req.Dropped) > 0 {
		fmt.Fprintf(a.err, "inspect: not sent, since they were never stored: %s\n", strings.Join(req.Dropped, ", "))
	}
	if !req.NeedsKey() {
		return req, nil
	}
	variable := f.keyEnv
	if variable == "" {
		variable = req.KeyVariable()
		if variable == "" || req.Exposed() {
			return nil, usageError{fmt.Errorf("the request goes to %s, for which no key is known or which is not encrypted: name the variable with --key-env if it should have one", host(req.URL))}
		}
	}
	key := a.getenv(variable)
	if key == "" {
		return nil, usageError{fmt.Errorf("no key: set %s, or name another variable with --key-env", variable)}
	}
	return req, req.SetKey(key)
}

// send sends the request, keeps it as a take and waits until its exchange is stored.
func (a *app) send(ctx context.Context, w *workspace.Workspace, req *replay.Request) (*replay.Take, *transcript.Exchange, error) {
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.DisableCompression = true
	player := &replay.Player{Store: w.Store(), Transport: recorder.NewTransport(base, w.Recording()), WithID: recorder.WithID}
	if !a.json {
		fmt.Fprintf(a.err, "sending %s again to %s\n", view.Ref(req.Origin.N), word(host(req.URL)))
	}
	take, err := player.Play(ctx, req, replay.Options{Mode: transcript.Once})
	if err != nil {
		return nil, nil, err
	}
	if !a.json && take.Error != nil && take.Outcome != transcript.HTTPError {
		fmt.Fprintf(a.err, "inspect: %s\n", visible(take.Error.Message))
	}
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), storedWithin)
	defer cancel()
	e, err := w.Stored(wait, take.Steps[0])
	if err != nil {
		return nil, nil, fmt.Errorf("store the replayed exchange: %w", err)
	}
	return take, e, nil
}

func host(url string) string {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		url = rest
	}
	h, _, _ := strings.Cut(url, "/")
	return h
}

func (a *app) printTake(ctx context.Context, r transcript.Reader, req *replay.Request, take *replay.Take, e *transcript.Exchange) error {
	before, err := view.Decode(ctx, r, req.Origin)
	if err != nil {
		return err
	}
	after, err := view.Decode(ctx, r, e)
	if err != nil {
		return err
	}
	if a.json {
		edits := req.Edits
		if edits == nil {
			edits = []transcript.Edit{}
		}
		err = a.printJSON(replayed{
			Take: fmt.Sprintf("t%d", take.N), Origin: req.Origin.ID, Edits: edits, Mode: "once",
			Outcome: e.Outcome, Exchange: e.ID, OldText: before.Text, FinalText: after.Text, Usage: e.Usage,
		})
	} else {
		p := a.printer(false)
		p.answer("before, "+view.Ref(req.Origin.N), before)
		p.answer(fmt.Sprintf("after, %s (take t%d)", view.Ref(e.N), take.N), after)
		p.verdict(req.Origin, before, e, after)
		err = p.failed
	}
	if err == nil && e.Outcome != transcript.OK {
		return errFindings
	}
	return err
}

func (p *printer) answer(title string, t *transcript.Turn) {
	p.rule(title)
	if len(t.Output) == 0 && t.Error == nil {
		p.line("  %s", p.style("(no answer)", dim))
	}
	for i := range t.Output {
		it := &t.Output[i]
		if it.Kind == transcript.ToolCall {
			args := it.ArgumentsRaw
			p.line("  %s %s  %s", p.style("▌", cyan), p.style(word(it.Name), cyan), cut(oneLine(visible(args)), p.room(20)))
		} else {
			p.entry(&view.Entry{Item: *it, Output: true})
		}
	}
	if t.Error != nil {
		p.line("  %s", p.style("✗ "+visible(join([]string{t.Error.Type, oneLine(t.Error.Message)})), red))
	}
}

func (p *printer) verdict(old *transcript.Exchange, before *transcript.Turn, e *transcript.Exchange, after *transcript.Turn) {
	p.line("")
	switch {
	case e.Outcome != transcript.OK:
		p.line("  %s", p.style("the replay failed: "+string(e.Outcome), red))
	case replay.SameAnswer(before, after):
		p.line("  the answer is the same")
	default:
		p.line("  %s", p.style("the answer changed", bold))
	}
	p.line("  %s", p.style(fmt.Sprintf("inspect show %s · inspect show %s", view.Ref(old.N), view.Ref(e.N)), dim))
}
