package effect

import (
	"fmt"
	"math"
)

// Verdict is what two arms tell.
type Verdict string

// The verdicts.
const (
	Significant  Verdict = "the edit did something"
	None         Verdict = "no sign that it did"
	Inconclusive Verdict = "open"
)

// alpha is the share of false effects that is borne.
const alpha = 0.05

// worth is the smallest difference that is worth more takes.
const worth = 0.1

// Result is the comparison of an edited arm with its control.
type Result struct {
	Edited, Control Arm
	Difference      float64 // of the shares: edited less control
	Low, High       float64 // the interval of the difference
	P               float64
	Verdict         Verdict
	Needed          int // takes an arm that would tell, if it is open; 0 if that is not known
}

// Compare sets an edited arm beside its control.
func Compare(edited, control Arm) Result {
	r := Result{Edited: edited, Control: control, Difference: edited.Share() - control.Share(), P: Fisher(edited, control)}
	r.Low, r.High = Newcombe(edited, control)
	r.judge()
	return r
}

// Corrected returns the result with the p that Holm gives for it among others.
func (r Result) Corrected(p float64) Result {
	r.P = p
	r.judge()
	return r
}

func (r *Result) judge() {
	r.Needed = 0
	switch {
	case r.Edited.N <= 0 || r.Control.N <= 0:
		r.Verdict = Inconclusive
	case r.P <= alpha:
		r.Verdict = Significant
	case math.Abs(r.Difference) < worth:
		r.Verdict = None
	default:
		r.Verdict = Inconclusive
		r.Needed = max(Needed(r.Edited.Share(), r.Control.Share()), 1+min(r.Edited.N, r.Control.N))
	}
}

// String says the verdict in a sentence.
func (r Result) String() string { return r.Words(string(Significant), string(None)) }

// Words says the verdict in a sentence, in other words for what there is and for
// what there is no sign of: models differ.
func (r Result) Words(did, noSign string) string {
	switch {
	case r.Verdict == Inconclusive && r.Needed > 0:
		return fmt.Sprintf("open: about %d takes an arm would be needed to tell", r.Needed)
	case r.Verdict == Inconclusive:
		return "open: an arm has no takes"
	case r.Verdict == None:
		return fmt.Sprintf("%s: a difference of more than %.0f points is unlikely", noSign, 100*max(math.Abs(r.Low), math.Abs(r.High)))
	}
	return did
}

// z80 is what a standard normal value stays below in 80 of 100 cases.
const z80 = 0.8416212335729143

// Needed returns the takes an arm with which two true shares would be told apart
// in 80 of 100 cases, by the usual formula with its correction for an exact test
// (J. L. Fleiss, 1981). 0 if they are equal: no number would do.
func Needed(a, b float64) int {
	d := math.Abs(a - b)
	if d == 0 || math.IsNaN(d) {
		return 0
	}
	mean := (a + b) / 2
	root := z95*math.Sqrt(2*mean*(1-mean)) + z80*math.Sqrt(a*(1-a)+b*(1-b))
	n := root * root / (d * d)
	n = n / 4 * math.Pow(1+math.Sqrt(1+4/(n*d)), 2)
	const most = 1e9
	return int(math.Ceil(min(n, most)))
}
