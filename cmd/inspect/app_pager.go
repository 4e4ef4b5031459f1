package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"

	"github.com/spf13/cobra"
)

// paged returns the commands with finite output that may be longer than a screen.
func paged() map[string]bool {
	return map[string]bool{"ls": true, "show": true, "tree": true, "calls": true, "lint": true, "diff": true, "compare": true,
		"timing": true, "context": true, "cache": true, "stats": true, "search": true}
}

// pager shows the output page by page. The first write starts it, so that a command
// that only fails starts none.
type pager struct {
	screen *os.File
	say    string // the command
	env    []string
	cmd    *exec.Cmd
	in     io.WriteCloser
	failed bool // it could not be started: write to the terminal directly
}

// turnPages starts a pager if the command's output goes to a terminal.
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
		p.env = append(p.env, "LESS=FRX") // quit if everything fits on the screen, keep colours
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
	_ = p.cmd.Wait() // its exit status is up to the reader
}

// left reports whether an error only means that the reader quit early.
func left(err error) bool { return errors.Is(err, syscall.EPIPE) }
