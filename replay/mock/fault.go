package mock

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/retake-debugger/retake/dialect"
)

// FaultKind is what goes wrong.
type FaultKind string

// The kinds of faults.
const (
	Status    FaultKind = "status"    // 429, 500, 503, 529: refused, with Retry-After for 429, 503 and 529
	Cut       FaultKind = "cut"       // the answer breaks off after some events
	Slow      FaultKind = "slow"      // every piece of the answer comes later
	Malformed FaultKind = "malformed" // arguments of calls are no whole JSON
	Duplicate FaultKind = "duplicate" // the calls of an answer have one call id, or that of the last call before
	Result    FaultKind = "result"    // the last tool result of the request has another text, here and later, before it is matched or forwarded
)

// Fault is one thing that goes wrong, at one request or by chance.
type Fault struct {
	Kind        FaultKind
	Count       int           // of Status the status, of Cut the events before it
	Duration    time.Duration // of Slow the delay, of Status what Retry-After says
	Text        string        // of Result
	At          int           // the request, from 1; 0: any
	Probability float64       // 0: always
	spec        string
}

// String returns the fault as it was written.
func (f Fault) String() string { return f.spec }

// ParseFault reads KIND[:ARG][@WHEN]: 429[:5s]@3 at the third request, cut:5@0.1 for
// one in ten (a number with a point), slow:2s for all; malformed, duplicate and
// result:TEXT.
func ParseFault(spec string) (Fault, error) {
	f := Fault{spec: spec}
	what, when, limited := cutLast(spec, "@")
	if limited {
		var err error
		if strings.Contains(when, ".") {
			f.Probability, err = strconv.ParseFloat(when, 64)
			if err == nil && !(f.Probability > 0 && f.Probability <= 1) {
				err = fmt.Errorf("a probability is between 0 and 1")
			}
		} else if f.At, err = strconv.Atoi(when); err == nil && f.At < 1 {
			err = fmt.Errorf("requests count from 1")
		}
		if err != nil {
			return f, fmt.Errorf("parse fault %q: %w", spec, err)
		}
	}
	kind, arg, hasArg := strings.Cut(what, ":")
	if err := f.argument(kind, arg, hasArg); err != nil {
		return f, fmt.Errorf("parse fault %q: %w", spec, err)
	}
	return f, nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

func (f *Fault) argument(kind, arg string, has bool) (err error) {
	f.Kind = FaultKind(kind)
	switch f.Kind {
	case "429", "500", "503", "529":
		f.Kind, f.Duration = Status, time.Second
		f.Count, err = strconv.Atoi(kind)
		if err == nil && has {
			f.Duration, err = time.ParseDuration(arg)
		}
	case Cut:
		f.Count, err = strconv.Atoi(arg)
	case Slow:
		f.Duration, err = time.ParseDuration(arg)
	case Result:
		f.Text = arg
	case Malformed, Duplicate:
		if has {
			err = fmt.Errorf("%s takes no argument", kind)
		}
	default:
		err = fmt.Errorf("want 429, 500, 503, 529, cut:EVENTS, slow:DURATION, malformed, duplicate or result:TEXT")
	}
	if err == nil && (f.Count < 0 || f.Duration < 0) {
		err = fmt.Errorf("less than 0")
	}
	return err
}

// Faults are drawn for each request. It may be used by several goroutines.
type Faults struct {
	list []Fault
	mu   sync.Mutex
	rand *rand.Rand
}

// NewFaults makes them; the seed decides about those that happen by chance.
func NewFaults(list []Fault, seed uint64) *Faults {
	return &Faults{list: list, rand: rand.New(rand.NewPCG(seed, 0))}
}

// draw returns what goes wrong at a request, which counts from 1.
func (f *Faults) draw(n int) []Fault {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var drawn []Fault
	for _, fault := range f.list {
		if fault.At > 0 && fault.At != n || fault.Probability > 0 && f.rand.Float64() >= fault.Probability {
			continue
		}
		drawn = append(drawn, fault)
	}
	return drawn
}

// refused answers with the status of a fault, if there is one. Nothing is used up.
func (a *answer) refused() bool {
	for _, f := range a.faults {
		if f.Kind != Status {
			continue
		}
		if f.Count != http.StatusInternalServerError {
			a.w.Header().Set("Retry-After", strconv.Itoa(int((f.Duration+time.Second-1)/time.Second)))
		}
		kind := map[int]string{429: "rate_limit_error", 529: "overloaded_error"}[f.Count]
		if kind == "" {
			kind = "api_error"
		}
		a.w.Header().Set("Content-Type", "application/json")
		a.w.WriteHeader(f.Count)
		object := fmt.Appendf(nil, `{"type":%q,"code":"replay_fault","message":"a fault, by order: %d"}`, kind, f.Count)
		a.w.Write(append(dialect.Error(a.dialect, object), '\n'))
		return true
	}
	return false
}
