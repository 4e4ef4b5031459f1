package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	startWithin = 20 * time.Second
	endWithin   = 40 * time.Second // the recorder may store what is left for half of that
)

// process is a program that the bench has started.
type process struct {
	name    string
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	stdout  *bufio.Reader // of the load generator
	address string        // that it listens on
	polite  bool          // it ends when its standard input does
	ended   chan struct{}

	mu   sync.Mutex
	said []string // the last lines of its log
}

// startRole starts a role and waits for its announcement.
func startRole(ctx context.Context, role string, args ...string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{name: role, cmd: exec.Command(self, append([]string{rolePrefix + role}, args...)...), polite: true}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.stdout = bufio.NewReaderSize(stdout, 64<<10)
	if err := p.start(); err != nil {
		return nil, err
	}
	line := make(chan string, 1)
	go func() {
		s, _ := p.stdout.ReadString('\n')
		line <- s
	}()
	select {
	case s := <-line:
		var ok bool
		if p.address, ok = strings.CutPrefix(strings.TrimSpace(s), announcement); ok {
			return p, nil
		}
	case <-time.After(startWithin):
	case <-ctx.Done():
	}
	return nil, errors.Join(p.failure("start"), ctx.Err(), p.end())
}

// startProgram starts a program that logs where it listens. address finds that in a
// line of its log.
func startProgram(ctx context.Context, name string, cmd *exec.Cmd, address func(line string) string) (*process, error) {
	p := &process{name: name, cmd: cmd}
	found := make(chan string, 1)
	cmd.Stderr = &lines{of: p, each: func(line string) {
		if at := address(line); at != "" {
			select {
			case found <- at:
			default:
			}
		}
	}}
	if err := p.start(); err != nil {
		return nil, err
	}
	select {
	case p.address = <-found:
		return p, nil
	case <-p.ended:
	case <-time.After(startWithin):
	case <-ctx.Done():
	}
	return nil, errors.Join(p.failure("start"), ctx.Err(), p.end())
}

func (p *process) start() error {
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	if p.cmd.Stderr == nil {
		p.cmd.Stderr = &lines{of: p, each: func(string) {}}
	}
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.name, err)
	}
	p.ended = make(chan struct{})
	go func() {
		// Not Wait, which would close the pipe that answers are read from.
		_, _ = p.cmd.Process.Wait()
		close(p.ended)
	}()
	return nil
}

// end asks the process to end, and kills it if it does not in time.
func (p *process) end() error {
	p.stdin.Close()
	if !p.polite {
		p.cmd.Process.Signal(syscall.SIGTERM)
	}
	select {
	case <-p.ended:
		return nil
	case <-time.After(endWithin):
		p.cmd.Process.Kill()
		<-p.ended
		return p.failure("end")
	}
}

func (p *process) failure(doing string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Errorf("%s %s: it does not answer; it said:\n%s", doing, p.name, strings.Join(p.said, "\n"))
}

// lines reads what a process writes to its log.
type lines struct {
	of   *process
	rest []byte
	each func(string)
}

const saidMost = 20

func (l *lines) Write(b []byte) (int, error) {
	l.rest = append(l.rest, b...)
	for {
		line, rest, whole := strings.Cut(string(l.rest), "\n")
		if !whole {
			break
		}
		l.rest = []byte(rest)
		l.of.mu.Lock()
		l.of.said = append(l.of.said, line)
		if len(l.of.said) > saidMost {
			l.of.said = l.of.said[1:]
		}
		l.of.mu.Unlock()
		l.each(line)
	}
	if len(l.rest) > 64<<10 {
		l.rest = nil
	}
	return len(b), nil
}
