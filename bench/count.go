package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// counted is what became of many exchanges through the recorder.
type counted struct {
	Sent     int            `json:"sent"`
	Failed   int            `json:"failed"`
	Failure  string         `json:"failure,omitempty"`
	PerSec   float64        `json:"requests_per_s"`
	P50      float64        `json:"p50_us"`
	P99      float64        `json:"p99_us"`
	Drain    float64        `json:"drain_s"` // from the last answer until all was stored
	Index    float64        `json:"index_s"` // and until all was in the search index
	CPU      float64        `json:"cpu_s_per_1000"`
	PeakMB   float64        `json:"peak_mb"`
	Recorded int            `json:"recorded"` // as inspect lists them
	Lossy    int            `json:"lossy"`
	Outcomes map[string]int `json:"outcomes"`
}

// countAll sends many small exchanges and counts what was answered and what
// was recorded. Anything missing is an error.
func countAll(ctx context.Context, o options) (err error) {
	b, err := newBench(ctx, &o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	c, err := b.count(ctx)
	if err != nil {
		return err
	}
	if o.json {
		err = json.NewEncoder(os.Stdout).Encode(c)
	} else {
		fmt.Printf("%d exchanges sent, %d failed %s\n%.0f requests/s, p50 %.0f µs, p99 %.0f µs, %.3f s CPU per 1000, peak %.0f MB, all stored %.2f s after the last answer, indexed %.2f s\n%d recorded, %d lossy, outcomes %v\n",
			c.Sent, c.Failed, c.Failure, c.PerSec, c.P50, c.P99, c.CPU, c.PeakMB, c.Drain, c.Index, c.Recorded, c.Lossy, c.Outcomes)
	}
	// Warm-up requests are recorded as well.
	s := countScenario()
	if want := o.count + warmUp*s.Connections; c.Failed > 0 || c.Recorded != want || c.Outcomes["ok"] != want || c.Lossy > 0 {
		return errors.Join(err, fmt.Errorf("want %d recorded with outcome ok and none failed or lossy", want))
	}
	return err
}

func countScenario() scenario {
	return scenario{Name: "count", Connections: 16, Prompts: small, Answer: 4 << 10}
}

func (b *bench) count(ctx context.Context) (*counted, error) {
	s := countScenario()
	t, err := startTarget(ctx, b.o, recording, b.model.address, b.folder, &s)
	if err != nil {
		return nil, err
	}
	defer func() { _ = t.end() }()
	l, err := b.run(ctx, job{Scenario: s, Address: t.address, Count: b.o.count})
	if err != nil {
		return nil, err
	}
	c := &counted{Sent: l.Requests + l.Failed, Failed: l.Failed, Failure: l.Failure, PerSec: float64(l.Requests) / l.Seconds, P50: l.P50, P99: l.P99}
	d, err := t.drain(ctx, 10*time.Minute)
	if err != nil {
		return nil, err
	}
	used := usageOf(t.process)
	c.Drain, c.Index, c.PeakMB, c.CPU = d.stored.Seconds(), d.indexed.Seconds(), used.peak, 1000*used.cpu/float64(max(1, c.Sent))
	if err := t.process.end(); err != nil {
		return nil, err
	}
	return c, c.list(ctx, filepath.Join(b.o.bin, "inspect"), t.database())
}

// list counts what inspect lists.
func (c *counted) list(ctx context.Context, inspect, db string) error {
	cmd := exec.CommandContext(ctx, inspect, "--db", db, "--json", "ls", "--exchanges", "--limit", "0")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start inspect: %w", err)
	}
	c.Outcomes = map[string]int{}
	rows := json.NewDecoder(out)
	_, err = rows.Token()
	for err == nil && rows.More() {
		var row struct {
			Outcome string
			Lossy   bool
		}
		if err = rows.Decode(&row); err == nil {
			c.Recorded++
			c.Outcomes[row.Outcome]++
			if row.Lossy {
				c.Lossy++
			}
		}
	}
	if err != nil {
		cmd.Process.Kill()
		return errors.Join(fmt.Errorf("read what inspect lists: %w", err), cmd.Wait())
	}
	return cmd.Wait()
}
