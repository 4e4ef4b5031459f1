package main

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/retake-debugger/retake/cmd/internal/workspace"
	"github.com/retake-debugger/retake/formats"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// conversations makes an export of what writes one conversation.
func conversations(write func(io.Writer, *formats.Conversation, *formats.Losses) error) func(*exporting, io.Writer) error {
	return func(x *exporting, w io.Writer) error {
		return x.each(func(c *formats.Conversation) error { return write(w, c, &x.lost) })
	}
}

// each reads the conversations that were chosen, one after the other.
func (x *exporting) each(f func(*formats.Conversation) error) error {
	list, err := x.leaves()
	if err != nil {
		return err
	}
	for n, e := range list {
		x.bar.show("exporting, conversations", int64(n), int64(len(list)))
		c, err := x.conversation(e)
		if err == nil {
			err = f(c)
		}
		if err := x.errors.take(view.Ref(e.N), err); err != nil {
			return err
		}
		if err := x.ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// conversation reads one, made as short as it has to be.
func (x *exporting) conversation(e *transcript.Exchange) (*formats.Conversation, error) {
	c, err := formats.NewConversation(x.ctx, x.reader, e, x.decode)
	if err != nil {
		return nil, err
	}
	if x.o.maxResult > 0 {
		if n := c.Cut(x.o.maxResult); n > 0 {
			fmt.Fprintf(x.err, "inspect: %s: %d long result%s cut to %d bytes\n", c.Ref, n, plural(n), x.o.maxResult)
		}
	}
	if x.o.maxTokens > 0 {
		if did := c.Fit(x.o.maxTokens); did != "" {
			fmt.Fprintf(x.err, "inspect: %s: left out to fit into %d tokens: %s\n", c.Ref, x.o.maxTokens, did)
		}
	}
	return c, nil
}

func (x *exporting) decode(e *transcript.Exchange) (*transcript.Turn, error) {
	return view.Decode(x.ctx, x.reader, e)
}

func (x *exporting) fewShot(w io.Writer) error {
	steps, err := parseSteps(x.o.steps)
	if err != nil {
		return usageError{err}
	}
	list, err := x.leaves()
	if err != nil {
		return err
	}
	if len(list) > 1 {
		return usageError{fmt.Errorf("that are %d conversations, and an example is one: name a step, such as %s", len(list), view.Ref(list[0].N))}
	}
	return x.each(func(c *formats.Conversation) error {
		f := formats.FewShot{As: x.o.as, API: transcript.Dialect(cmp.Or(x.o.api, string(c.Exchange.Dialect))), Steps: steps, System: x.o.system, Words: x.o.words}
		return f.Write(w, c, &x.lost)
	})
}

func (x *exporting) html(w io.Writer) error {
	var list []*formats.Conversation
	if err := x.each(func(c *formats.Conversation) error { list = append(list, c); return nil }); err != nil {
		return err
	}
	title := ""
	if len(list) > 0 {
		title = x.titleOf(list[0].Exchange.Link.Run)
	}
	return formats.HTML(w, title, list, &x.lost)
}

// titleOf names a run, "" if it has no name.
func (x *exporting) titleOf(run string) string {
	sums, err := view.Runs(x.ctx, x.reader, transcript.RunFilter{IDs: []string{run}}, time.Now())
	if err != nil || len(sums) == 0 {
		return ""
	}
	return sums[0].Name
}

// request makes an export of what writes one request as a program.
func request(write func(io.Writer, *formats.Request) error) func(*exporting, io.Writer) error {
	return func(x *exporting, w io.Writer) error {
		e, err := x.one()
		if err != nil {
			return err
		}
		r, err := replay.Prepare(x.ctx, x.reader, e, nil)
		if err != nil {
			return err
		}
		written, err := r.Write()
		if err != nil {
			return err
		}
		for _, name := range r.Dropped {
			fmt.Fprintf(x.err, "inspect: left out: header %s: its value is not stored\n", visible(name))
		}
		return write(w, (*formats.Request)(written))
	}
}

func (x *exporting) har(w io.Writer) error {
	h := formats.NewHAR(w, workspace.Version(), &x.lost)
	err := x.exchanges(false, func(e *transcript.Exchange) error {
		b, err := view.ReadBodies(x.ctx, x.reader, e)
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
