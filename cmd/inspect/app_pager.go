package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"

	"github.com/spf13/cobra"
)

// paged are the commands whose output may be longer than a screen, and ends.
func paged() map[string]bool {
	return map[string]bool{"ls": true, "show": true, "tree": true, "calls": true, "lint": true, "diff": true, "compare": true,
		"timing": true, "context": true, "cache": true, "stats": true, "search": true}
}

// pager is a terminal behind a program that shows it page by page. It is started by
// the first write, so that a command that only fails starts none.
type pager struct {
	screen *os.File
	say    string // the command
	env    []string
	cmd    *exec.Cmd
	in     io.WriteCloser
	failed bool // it could not be started: the screen is written to
}

// turnPages puts a pager before the terminal, if a command's output is for one.
func (a *app) turnPages(c *cobra.Command) {
	screen, ok := a.out.(*os.File)
	follow := c.Flags().Lookup("follow")
	if !ok || a.noPager || !a.terminal() || a.getenv("TERM") == "dumb" || !paged()[c.Name()] || follow != nil && follow.Value.String() == "true" {
		return
	}
	p := &pager{screen: screen, say: a.getenv("PAGER"), env: os.Environ()}
	if p.say == "" {
		if p.say = "less"; !installed(p.say) {
			return
		}
	}
	if a.getenv("LESS") == "" {
		p.env = append(p.env, "LESS=FRX") // leave where all fits on the screen, pass colours on
	}
	a.out = p
}

func installed(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

func (p *pager) Write(b []byte) (int, error) {
	if p.cmd == nil && !p.failed {
		p.start()
	}
	if p.failed {
		return p.screen.Write(b)
	}
	return p.in.Write(b)
}

func (p *pager) start() {
	p.cmd = exec.Command("sh", "-c", p.say)
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = p.env, p.screen, os.Stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err == nil {
		err = p.cmd.Start()
	}
	p.failed = err != nil
}

// close waits for the reader.
func (p *pager) close() {
	if p.cmd == nil || p.failed {
		return
	}
	p.in.Close()
	_ = p.cmd.Wait() // how it ends is the reader's choice
}

// left reports whether an error only says that the reader left before the end.
func left(err error) bool { return errors.Is(err, syscall.EPIPE) }
