package files

import (
	"cmp"
	"fmt"
	"io"

	"github.com/retake-debugger/retake/formats"
	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// conversations makes an export from a function that writes one conversation.
func conversations(write func(io.Writer, *formats.Conversation, *formats.Losses) error) func(*Export, io.Writer) error {
	return func(x *Export, w io.Writer) error {
		list, err := x.leaves()
		if err != nil {
			return err
		}
		return x.each(list, func(c *formats.Conversation) error { return write(w, c, &x.Lost) })
	}
}

// each reads conversations one after the other.
func (x *Export) each(leaves []*transcript.Exchange, f func(*formats.Conversation) error) error {
	for n, e := range leaves {
		x.Progress("exporting, conversations", int64(n), int64(len(leaves)))
		c, err := x.conversation(e)
		if err == nil {
			err = f(c)
		}
		if err := x.Left(view.Ref(e.N), err); err != nil {
			return err
		}
		if err := x.ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// conversation reads one conversation and shortens it as the options say.
func (x *Export) conversation(e *transcript.Exchange) (*formats.Conversation, error) {
	c, err := formats.NewConversation(x.ctx, x.Reader, e, x.decode)
	if err != nil {
		return nil, err
	}
	if x.MaxResult > 0 {
		if n := c.Cut(x.MaxResult); n > 0 {
			x.Note(fmt.Sprintf("%s: %s cut to %d bytes", c.Ref, longResults(n), x.MaxResult))
		}
	}
	if x.MaxTokens > 0 {
		if did := c.Fit(x.MaxTokens); did != "" {
			x.Note(fmt.Sprintf("%s: left out to fit into %d tokens: %s", c.Ref, x.MaxTokens, did))
		}
	}
	return c, nil
}

func (x *Export) decode(e *transcript.Exchange) (*transcript.Turn, error) {
	return history.Decode(x.ctx, x.Reader, e)
}

func longResults(n int) string {
	if n == 1 {
		return "1 long result"
	}
	return fmt.Sprintf("%d long results", n)
}

// fewShot writes one conversation as an example.
func (x *Export) fewShot(w io.Writer) error {
	list, err := x.leaves()
	if err != nil {
		return err
	}
	if len(list) > 1 && !x.First {
		return fmt.Errorf("%d conversations were chosen, but %w: name a step, such as %s", len(list), ErrSeveral, view.Ref(list[0].N))
	}
	first := true
	return x.each(list, func(c *formats.Conversation) error {
		if !first {
			x.Lost.Add("further conversations: an example is one")
			return nil
		}
		first = false
		f := formats.FewShot{As: x.As, API: cmp.Or(x.API, c.Exchange.Dialect), Steps: x.Steps, System: x.System, Words: x.Words}
		return f.Write(w, c, &x.Lost)
	})
}

func (x *Export) html(w io.Writer) error {
	leaves, err := x.leaves()
	if err != nil {
		return err
	}
	var list []*formats.Conversation
	if err := x.each(leaves, func(c *formats.Conversation) error { list = append(list, c); return nil }); err != nil {
		return err
	}
	title := ""
	if len(list) > 0 {
		title = x.titleOf(list[0].Exchange.Link.Run)
	}
	return formats.HTML(w, title, list, &x.Lost)
}

// program makes an export from a function that writes one request as a program.
func program(write func(io.Writer, *formats.Request) error) func(*Export, io.Writer) error {
	return func(x *Export, w io.Writer) error {
		e, err := x.one()
		if err != nil {
			return err
		}
		r, err := replay.NewRequest(x.ctx, x.Reader, e, nil)
		if err != nil {
			return err
		}
		written, err := r.Write()
		if err != nil {
			return err
		}
		for _, name := range r.Dropped {
			x.Lost.Add("header " + name + ": its value is not stored")
		}
		return write(w, (*formats.Request)(written))
	}
}

func (x *Export) har(w io.Writer) error {
	h := formats.NewHAR(w, x.Version, &x.Lost)
	err := x.exchanges(false, func(e *transcript.Exchange) error {
		b, err := history.Read(x.ctx, x.Reader, e)
		if err != nil {
			return err
		}
		return h.Add(e, formats.Bodies(b))
	})
	if err != nil {
		return err
	}
	return h.Close()
}
