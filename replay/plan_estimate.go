package replay

import (
	"encoding/json"
	"math/big"

	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// Estimate is what a take is likely to use: what the recording used from there on.
type Estimate struct {
	Requests int
	Input    int64    // tokens
	Output   int64    //
	USD      *big.Rat // nil: not known
	Guessed  bool     // some tokens were not told, and are guessed from bytes
}

// bytesPerToken is what a token has of a body, about.
const bytesPerToken = 4

// Estimate returns what a take of the exchange at which the recording begins is likely to
// use, if it is sent as req is. One that resumes another take does not repeat
// what that did. Without prices its cost is not known.
func (t *RecordedResults) Estimate(req *Request, mode transcript.TakeMode, steps int, prices *pricing.Table) Estimate {
	line := t.line[min(req.done, len(t.line)-1):]
	if mode == transcript.Once {
		line = line[:1]
	}
	if steps > 0 {
		line = line[:min(steps, len(line))]
	}
	model := modelOf(req)
	e := Estimate{Requests: len(line), USD: new(big.Rat)}
	for _, x := range line {
		u := x.Usage
		if u == nil {
			e.Guessed = true
			in, out := max(x.Request.Bytes, int64(len(req.Body)))/bytesPerToken, x.Response.Bytes/bytesPerToken
			u = &transcript.Usage{InputTotal: in, InputUncached: in, Output: out, Total: in + out, Complete: true}
		}
		e.Input, e.Output = e.Input+u.InputTotal, e.Output+u.Output
		use := pricing.Use{URL: req.URL, Model: x.Model, ResponseModel: x.ResponseModel, Usage: u}
		if model != "" && model != x.Model {
			use.Model, use.ResponseModel = model, ""
		}
		if prices == nil {
			e.USD = nil
		} else if cost := prices.Cost(use); cost.USD == nil {
			e.USD = nil
		} else if e.USD != nil {
			e.USD.Add(e.USD, cost.USD)
		}
	}
	return e
}

// Estimate returns what it is likely to use to send the request once.
func (r *Request) Estimate(prices *pricing.Table) Estimate {
	tape := RecordedResults{line: []*transcript.Exchange{r.Origin}}
	return tape.Estimate(r, transcript.Once, 0, prices)
}

// modelOf returns the model that a request names in its body, "" if it does not.
func modelOf(r *Request) string {
	d, err := r.decoded()
	if err != nil {
		return ""
	}
	value, err := rawjson.Value(d.body, "/model")
	var model string
	if err != nil || json.Unmarshal(value, &model) != nil {
		return ""
	}
	return model
}
