package files

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/retake-debugger/retake/formats"
	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

func (x *Export) jsonl(w io.Writer) error {
	enc := json.NewEncoder(w)
	if x.Lines != nil {
		enc = x.Lines(w)
	}
	return x.exchanges(x.Chunks, func(e *transcript.Exchange) error {
		v, err := view.NewExchange(x.ctx, x.Reader, e)
		if err != nil {
			return err
		}
		v.Price(x.Prices)
		if x.Chunks {
			v.AddChunks(e)
		}
		return enc.Encode(rawjson.Shallow(v))
	})
}

func (x *Export) rawRequest(w io.Writer) error {
	e, err := x.one()
	if err != nil {
		return err
	}
	return x.body(&e.Request, w)
}

func (x *Export) rawResponse(w io.Writer) error {
	e, err := x.one()
	if err != nil {
		return err
	}
	return x.body(&e.Response, w)
}

func (x *Export) body(m *transcript.Message, w io.Writer) error {
	if m.Omitted != "" {
		return fmt.Errorf("the exact bytes were not stored, by choice: %s", m.Omitted)
	}
	if m.Bytes == 0 {
		return nil
	}
	body, err := history.Open(x.ctx, x.Reader, m.Body)
	if err != nil {
		return err
	}
	defer body.Close()
	_, err = io.Copy(w, body)
	return err
}

func (x *Export) csv(w io.Writer) error {
	list := x.Chosen
	if x.everything() {
		var err error
		if list, err = x.everyRun(); err != nil {
			return err
		}
	}
	table := formats.NewCSV(w)
	for n, c := range list {
		x.Progress("exporting, runs", int64(n), int64(len(list)))
		err := x.callsOf(c, table)
		if err := x.Left(c.Ref, err); err != nil {
			return err
		}
	}
	return table.Close()
}

// everyRun visits the runs with an exchange that passes.
func (x *Export) everyRun() ([]Chosen, error) {
	var list []Chosen
	seen := map[string]bool{}
	for e, err := range x.Reader.Exchanges(x.ctx, transcript.Filter{Oldest: true}) {
		if err != nil {
			if err := x.Left("", err); err != nil {
				return nil, err
			}
			continue
		}
		if run := e.Link.Run; run != "" && !seen[run] && x.passes(e) {
			seen[run] = true
			list = append(list, Chosen{Run: run})
		}
	}
	return list, nil
}

func (x *Export) callsOf(c Chosen, table *formats.CSV) error {
	var calls []view.Call
	run := ""
	if c.Exchange != nil {
		var err error
		if calls, err = view.ExchangeCalls(x.ctx, x.Reader, c.Exchange); err != nil {
			return err
		}
	} else {
		r, err := x.Reader.Run(x.ctx, c.Run)
		if err != nil {
			return err
		}
		v, err := view.NewRun(x.ctx, x.Reader, r, time.Now())
		if err != nil {
			return err
		}
		if calls, err = v.Calls(x.ctx, x.Reader); err != nil {
			return err
		}
		run = v.Ref()
	}
	for i := range calls {
		k := &calls[i]
		err := table.Add(&formats.Call{Run: run, Step: k.Step, Agent: k.Agent, Exchange: k.Exchange, CallID: k.CallID, Name: k.Name, State: string(k.State),
			IsError: k.IsError, LatencyMS: k.LatencyMS, Arguments: k.Arguments, Result: k.Result})
		if err != nil {
			return err
		}
	}
	return nil
}
