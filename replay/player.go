package replay

import (
	"context"
	"math/big"
	"net/http"
	"time"

	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/transcript"
)

// Player replays requests and keeps what comes of it as takes. Several takes may be
// played at once.
type Player struct {
	Store     transcript.Store  // the recordings; takes are kept here
	Transport http.RoundTripper // sends, and records under the id that WithID gives a request
	// WithID makes the exchange of the request with that context have that id:
	// recorder.WithID.
	WithID func(ctx context.Context, exchange string) context.Context
	Prices *pricing.Table                             // nil: no cost is known
	Now    func() time.Time                           // nil: time.Now
	Wait   func(context.Context, time.Duration) error // between attempts; nil: by a timer
}

// Options say how a take is played.
type Options struct {
	Mode    transcript.TakeMode // "": Continue
	Sources []Source            // asked in this order for the results of tool calls; with none, the take stops at the first call
	Edits   []transcript.Edit   // of results that come later than the request, kept with the take; sources make them
	Limits  Limits
	Retries int    // how often a request is sent again that was refused for now (429, 503, 529)
	Reason  string // why the take is made, in a user's words
	Group   string // what takes that are compared have in common
	Arm     string // which of the compared things it is
	Resume  *Resumed
	// Progress, if set, is called by the goroutine that plays.
	Progress func(Event)
}

// Event is something that happened to a take.
type Event struct {
	Kind     EventKind
	Take     int64
	Step     int
	Attempt  int
	Exchange string
	Turn     *transcript.Turn // of Answered
	Status   int              // of Answered and Waits
	Took     time.Duration    // of Answered
	Call     *Call            // of Ran
	Result   *Result          // of Ran
	Wait     time.Duration    // of Waits
	Err      error            // of Answered: why there is no whole answer
}

// EventKind is the kind of an Event.
type EventKind string

// The kinds of events.
const (
	Began    EventKind = "began"    // the take is kept
	Sends    EventKind = "sends"    // a request goes out
	Answered EventKind = "answered" // its answer is read
	Waits    EventKind = "waits"    // it was refused and will be sent again
	Ran      EventKind = "ran"      // a source gave a result
)

// Take is what came of one replay.
type Take struct {
	Ref        string                `json:"take"` // t4
	N          int64                 `json:"-"`
	Origin     string                `json:"origin"` // id of the exchange that was replayed
	Edits      []transcript.Edit     `json:"edits"`
	Mode       transcript.TakeMode   `json:"mode"`
	Outcome    transcript.Outcome    `json:"outcome"`
	StopReason transcript.StopReason `json:"stop_reason"`
	Steps      []string              `json:"steps"` // ids of the exchanges of its steps, of each the last attempt
	// Results are all tool results that the model saw at the last step, in the order
	// of the conversation, as far as the requests hold it.
	Results    []transcript.TakeResult `json:"tool_results"`
	OpenCalls  []OpenCall              `json:"open_calls"` // that stopped it
	FinalText  string                  `json:"final_text"`
	Usage      *transcript.Usage       `json:"usage"` // of all its requests; null if none told it
	CostUSD    *string                 `json:"cost_usd"`
	LowerBound bool                    `json:"cost_is_lower_bound"`
	Error      *transcript.Error       `json:"error"` // of the last request, in the provider's words or the transport's
	// Turns are the answers of its steps, in order.
	Turns []*transcript.Turn `json:"-"`
	// Stored is how the take is kept.
	Stored *transcript.Take `json:"-"`
}

// Cost returns what the take cost in USD, false if that is not known.
func (t *Take) Cost() (*big.Rat, bool) {
	if t.CostUSD == nil {
		return nil, false
	}
	return new(big.Rat).SetString(*t.CostUSD)
}

// OpenCall is a tool call that no source answered.
type OpenCall struct {
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments_raw"`
}

// Play sends a request and, unless the mode is Once, continues: it answers the tool
// calls of each answer from the sources and sends again, until the model calls none,
// a limit is reached or a call stays open. Calls that the provider runs itself are
// not answered. What happens is kept in the Store as it happens.
//
// An error says that nothing could be kept. Whatever else ends a take, a refused
// request or a cancelled ctx too, is reported by the Take.
func (p *Player) Play(ctx context.Context, req *Request, o Options) (*Take, error) {
	l, err := p.newLoop(ctx, req, &o)
	if err != nil {
		return nil, err
	}
	play := ctx
	if o.Limits.Time > 0 {
		var cancel context.CancelFunc
		play, cancel = context.WithTimeoutCause(ctx, o.Limits.Time, errTimeout)
		defer cancel()
	}
	stop, err := l.run(play)
	if err != nil {
		return nil, err
	}
	return l.end(context.WithoutCancel(ctx), stop)
}

// Time returns the current time by the player's clock.
func (p *Player) Time() time.Time {
	if p.Now != nil {
		return p.Now()
	}
	return time.Now()
}

// Sleep waits, as the player does between attempts.
func (p *Player) Sleep(ctx context.Context, d time.Duration) error {
	if p.Wait != nil {
		return p.Wait(ctx, d)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
