package main

import (
	"fmt"
	"io"
	"time"

	"github.com/retake-debugger/retake/formats"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

func (x *exporting) jsonl(w io.Writer) error {
	enc := newJSON(w)
	table, err := x.prices()
	if err != nil {
		return err
	}
	return x.exchanges(true, func(e *transcript.Exchange) error {
		v, err := view.NewExchange(x.ctx, x.reader, e)
		if err != nil {
			return err
		}
		v.Price(table)
		if x.o.chunks {
			v.AddChunks(e)
		}
		return enc.Encode(v)
	})
}

func (x *exporting) rawRequest(w io.Writer) error {
	e, err := x.one()
	if err != nil {
		return err
	}
	return x.body(&e.Request, w)
}

func (x *exporting) rawResponse(w io.Writer) error {
	e, err := x.one()
	if err != nil {
		return err
	}
	return x.body(&e.Response, w)
}

func (x *exporting) body(m *transcript.Message, w io.Writer) error {
	if m.Omitted != "" {
		return fmt.Errorf("the exact bytes were not stored, by choice: %s", m.Omitted)
	}
	if m.Bytes == 0 {
		return nil
	}
	body, err := x.reader.Body(x.ctx, m.Body)
	if err != nil {
		return err
	}
	defer body.Close()
	_, err = io.Copy(w, body)
	return err
}

func (x *exporting) csv(w io.Writer) error {
	list, err := x.choose(false)
	if err != nil {
		return err
	}
	if len(list) == 1 && list[0].ref == "" {
		if list, err = x.everyRun(); err != nil {
			return err
		}
	}
	table := formats.NewCSV(w)
	for n, c := range list {
		x.bar.show("exporting, runs", int64(n), int64(len(list)))
		err := x.callsOf(c, table)
		if err := x.errors.take(c.ref, err); err != nil {
			return err
		}
	}
	return table.Close()
}

// everyRun gives the runs of which an exchange passes the filter.
func (x *exporting) everyRun() ([]chosen, error) {
	passes, err := x.filter()
	if err != nil {
		return nil, err
	}
	var list []chosen
	seen := map[string]bool{}
	for e, err := range x.reader.Exchanges(x.ctx, transcript.Filter{Oldest: true}) {
		if err != nil {
			if err := x.errors.take("", err); err != nil {
				return nil, err
			}
			continue
		}
		if run := e.Link.Run; run != "" && !seen[run] && (passes == nil || passes(e)) {
			seen[run] = true
			list = append(list, chosen{run: run})
		}
	}
	return list, nil
}

func (x *exporting) callsOf(c chosen, table *formats.CSV) error {
	var calls []view.Call
	run := ""
	if c.exchange != nil {
		var err error
		if calls, err = view.ExchangeCalls(x.ctx, x.reader, c.exchange); err != nil {
			return err
		}
	} else {
		r, err := x.reader.Run(x.ctx, c.run)
		if err != nil {
			return err
		}
		v, err := view.NewRun(x.ctx, x.reader, r, time.Now())
		if err != nil {
			return err
		}
		if calls, err = v.Calls(x.ctx, x.reader); err != nil {
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
