// Command demo shows the whole way without a key or a network: a scripted
// model and a sample agent talk through the real recorder, the transcript is
// printed, one tool output is changed, and the step is sent again.
//
//	go run ./examples/demo --bin bin
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/retake-debugger/retake/examples/scripted"
)

func main() {
	bin := flag.String("bin", "bin", "folder of recorder and inspect")
	agent := flag.Bool("agent", false, "be the agent (the demo starts itself so)")
	keep := flag.Bool("view", term.IsTerminal(int(os.Stdout.Fd())), "serve the viewer at the end until Ctrl-C")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	run := func() error { return demo(ctx, *bin, *keep) }
	if *agent {
		run = func() error { return runAgent(ctx, os.Getenv("ANTHROPIC_BASE_URL")) }
	}
	if err := run(); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// script returns a model that asks for weather and calendar at once, tries to set a
// reminder, and answers by what the weather tool said.
func script() *scripted.Model {
	return &scripted.Model{Script: []scripted.Step{
		{Thinking: "I need the weather and the calendar.", Calls: []scripted.Call{
			{Name: "get_weather", Arguments: `{"city": "Oslo", "day": "tomorrow"}`},
			{Name: "get_calendar", Arguments: `{"day": "tomorrow"}`},
		}},
		{Calls: []scripted.Call{{Name: "set_reminder", Arguments: `{"at": "07:30", "text": "Leave for the 9:00 meeting"}`}}},
		{Answer: func(results []string) string {
			pack := "Take sunglasses"
			if strings.Contains(strings.Join(results, "\n"), "rain") {
				pack = "Take an umbrella"
			}
			return pack + " and leave at 7:30 for your meeting at 9:00. I could not set a reminder: the service is down."
		}},
	}}
}

func demo(ctx context.Context, bin string, keep bool) error {
	dir, err := os.MkdirTemp(bin, "demo-") // gone with "make clean"; the viewer may still want it
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	model := &http.Server{Handler: script()}
	go func() { _ = model.Serve(l) }()
	defer model.Close()
	d := demonstration{ctx: ctx, bin: bin, db: filepath.Join(dir, "demo.db"), model: "http://" + l.Addr().String()}
	return d.tell(keep)
}

type demonstration struct {
	ctx            context.Context
	bin, db, model string
}

func (d *demonstration) tell(keep bool) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	fmt.Println("1. A sample agent runs against a scripted model, through the recorder.")
	if err := d.run("recorder", "run", "--db", d.db, "--upstream", d.model, "--", self, "-agent"); err != nil {
		return err
	}
	fmt.Println("\n2. The last exchange as a transcript: each call with its result.")
	if err := d.run("inspect", "--db", d.db, "show", "x:last"); err != nil {
		return err
	}
	id, err := d.callID("get_weather")
	if err != nil {
		return err
	}
	fmt.Println("\n3. The same step again, with another weather report.")
	if err := d.run("inspect", "--db", d.db, "replay", "x:last", "--once", "--set-result", id+"=Oslo tomorrow: 22 °C, clear sky"); err != nil {
		return err
	}
	fmt.Println("\n4. The same in a browser:")
	if !keep {
		fmt.Printf("   %s --db %s web        then open http://127.0.0.1:7778/\n", filepath.Join(d.bin, "inspect"), d.db)
		return nil
	}
	return d.run("inspect", "--db", d.db, "web", "--listen", "127.0.0.1:0")
}

// run prints a command and runs it, as a user would.
func (d *demonstration) run(program string, args ...string) error {
	path := filepath.Join(d.bin, program)
	fmt.Printf("\n$ %s %s\n", path, quote(args))
	cmd := exec.CommandContext(d.ctx, path, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "ANTHROPIC_API_KEY=demo-key")
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	return nil
}

func quote(args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = a
		if strings.ContainsAny(a, " °") {
			quoted[i] = "'" + a + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// callID asks inspect for the id of the call of a tool.
func (d *demonstration) callID(tool string) (string, error) {
	out, err := exec.CommandContext(d.ctx, filepath.Join(d.bin, "inspect"), "--db", d.db, "--json", "show", "x:last").Output()
	if err != nil {
		return "", fmt.Errorf("inspect show --json: %w", err)
	}
	var shown struct {
		Pairs []struct {
			CallID string `json:"call_id"`
			Name   string `json:"name"`
		} `json:"pairs"`
	}
	if err := json.NewDecoder(bytes.NewReader(out)).Decode(&shown); err != nil {
		return "", err
	}
	for _, p := range shown.Pairs {
		if p.Name == tool {
			return p.CallID, nil
		}
	}
	return "", errors.New("no call of " + tool + " in the transcript")
}
