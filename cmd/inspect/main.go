// Command inspect reads what the recorder stored: it lists exchanges, shows
// them as transcripts, exports them, checks them and sends them again with a
// tool output changed.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	hugePages()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], console{in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv})
	stop()
	os.Exit(code)
}

// gcPercent lets the heap grow more than by default between collections: a command
// runs briefly, and collecting took a fifth of its time.
const gcPercent = 400

// run is the whole program. It returns the exit status.
func run(ctx context.Context, args []string, c console) int {
	a := &app{console: c}
	root := newRoot(a)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if p, ok := a.out.(*pager); ok {
		p.close()
	}
	if left(err) {
		err = nil
	}
	if err == nil {
		return exitOK
	}
	if message := explain(err); message != "" {
		fmt.Fprintln(c.err, "inspect: "+message)
	}
	return exitCode(err)
}
