package files

import (
	"errors"
	"io"

	"github.com/retake-debugger/retake/formats"
	"github.com/retake-debugger/retake/transcript"
)

// spanning writes exchanges as spans. Results come with later requests than their
// calls, so calls are kept until then.
type spanning struct {
	*Export
	otlp *formats.OTLP
	runs map[string]bool                 // with a span already written
	open map[string][]transcript.CallRow // by the exchange that brings their first result
	made map[transcript.Place]madeCall
}

type madeCall struct {
	exchange *transcript.Exchange
	item     transcript.Item
}

func (x *Export) otlp(w io.Writer) error {
	s := &spanning{Export: x, otlp: formats.NewOTLP(w, &x.Lost), runs: map[string]bool{}, open: map[string][]transcript.CallRow{}, made: map[transcript.Place]madeCall{}}
	if err := x.exchanges(false, s.add); err != nil {
		return err
	}
	return s.otlp.Close()
}

func (s *spanning) add(e *transcript.Exchange) error {
	c, err := s.conversation(e)
	if err != nil {
		return err
	}
	if err := s.run(e.Link.Run); err != nil {
		return err
	}
	if err := s.otlp.Chat(c, e.Link.Run); err != nil {
		return err
	}
	if err := s.results(c); err != nil {
		return err
	}
	rows, err := s.Reader.Calls(s.ctx, []string{e.ID})
	if err != nil {
		return err
	}
	for _, row := range rows {
		if len(row.Results) == 0 {
			continue
		}
		for i := c.Output; i < len(c.Items); i++ {
			if it := &c.Items[i]; it.At == row.At {
				s.made[transcript.Place{Exchange: e.ID, At: row.At}] = madeCall{e, *it}
				s.open[row.Results[0].Exchange] = append(s.open[row.Results[0].Exchange], row)
			}
		}
	}
	return nil
}

// run writes the span of a run before the first of its exchanges.
func (s *spanning) run(id string) error {
	if id == "" || s.runs[id] {
		return nil
	}
	s.runs[id] = true
	sums, err := s.Reader.Runs(s.ctx, transcript.RunFilter{IDs: []string{id}})
	if err != nil && !errors.Is(err, transcript.ErrDamaged) || len(sums) == 0 {
		return err
	}
	return s.otlp.Run(&sums[0])
}

// results writes the spans of the calls whose results an exchange introduced.
func (s *spanning) results(c *formats.Conversation) error {
	for _, row := range s.open[c.Exchange.ID] {
		place := transcript.Place{Exchange: row.Exchange, At: row.At}
		made := s.made[place]
		delete(s.made, place)
		var result *transcript.Item
		for i := range c.Items[:c.Output] {
			if it := &c.Items[i]; it.Kind == transcript.ToolResult && it.At == row.Results[0].At {
				result = it
			}
		}
		if err := s.otlp.Tool(made.exchange, &made.item, result, c.Exchange.StartedAt); err != nil {
			return err
		}
	}
	delete(s.open, c.Exchange.ID)
	return nil
}
