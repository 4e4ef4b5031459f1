package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// cell is the result of one cell.
type cell struct {
	load
	CPU   float64 `json:"cpu_s"` // of the target, until it has done everything
	Drain float64 `json:"drain_s"`
	Index float64 `json:"index_s"`
	RSS   float64 `json:"rss_mb"` // afterwards
}

// bench runs cells.
type bench struct {
	o      *options
	folder string
	model  *process
	loader *process
	seed   uint64
}

func newBench(ctx context.Context, o *options) (*bench, error) {
	b := &bench{o: o}
	var err error
	if b.folder, err = os.MkdirTemp("", "retake-bench-"); err != nil {
		return nil, err
	}
	if b.model, err = startRole(ctx, roleModel); err != nil {
		return nil, errors.Join(err, b.close())
	}
	if b.loader, err = startRole(ctx, roleLoad); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

func (b *bench) close() error {
	var errs []error
	for _, p := range []*process{b.loader, b.model} {
		if p != nil {
			errs = append(errs, p.end())
		}
	}
	return errors.Join(append(errs, os.RemoveAll(b.folder))...)
}

// measureAll measures the scenarios and prints the results.
func measureAll(ctx context.Context, o options) (err error) {
	if o.profile != "" {
		if err := os.MkdirAll(o.profile, 0o755); err != nil {
			return err
		}
	}
	b, err := newBench(ctx, &o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	r := report{Rounds: o.rounds, Seconds: o.seconds}
	for _, s := range scenarios() {
		if !slices.Contains(o.only, s.Name) {
			continue
		}
		measured, err := b.scenario(ctx, s)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		r.Scenarios = append(r.Scenarios, measured)
		if !o.json {
			measured.print(os.Stdout)
		}
	}
	if o.json {
		return json.NewEncoder(os.Stdout).Encode(r)
	}
	r.print(os.Stdout)
	return nil
}

// scenario starts the targets and measures each in each round.
func (b *bench) scenario(ctx context.Context, s scenario) (_ *result, err error) {
	var targets []*target
	defer func() {
		for _, t := range targets {
			err = errors.Join(err, t.end())
		}
	}()
	r := &result{Scenario: s}
	for _, name := range b.o.targets {
		t, err := startTarget(ctx, b.o, name, b.model.address, b.folder, &s)
		if errors.Is(err, errNotInstalled) {
			continue
		}
		if err != nil {
			return nil, err
		}
		targets = append(targets, t)
		r.Targets = append(r.Targets, &summary{Target: name, IdleMB: t.idle})
	}
	for round := range b.rounds(&s) {
		for n := range targets {
			n = (n + round) % len(targets)
			c, err := b.cell(ctx, s, targets[n])
			if err != nil {
				return nil, err
			}
			r.Targets[n].cells = append(r.Targets[n].cells, c)
		}
	}
	for n, t := range targets {
		r.Targets[n].PeakMB = usageOf(t.process).peak
	}
	r.summarise()
	return r, nil
}

func (b *bench) rounds(s *scenario) int {
	if s.Once {
		return 1
	}
	return b.o.rounds
}

// drainWithin bounds how long a recorder may take to store what a cell sent.
const drainWithin = 60 * time.Second

func (b *bench) cell(ctx context.Context, s scenario, t *target) (*cell, error) {
	before := usageOf(t.process)
	l, err := b.run(ctx, job{Scenario: s, Address: t.address, Seconds: b.o.seconds})
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", t.name, err)
	}
	d, err := t.drain(ctx, drainWithin)
	if err != nil {
		return nil, err
	}
	after := usageOf(t.process)
	return &cell{load: *l, CPU: after.cpu - before.cpu, Drain: d.stored.Seconds(), Index: d.indexed.Seconds(), RSS: after.rss}, nil
}

// run has the load generator do a job.
func (b *bench) run(ctx context.Context, j job) (*load, error) {
	b.seed++
	j.Seed = b.seed // what was sent before is not sent again
	if err := json.NewEncoder(b.loader.stdin).Encode(j); err != nil {
		return nil, err
	}
	type answer struct {
		load *load
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		var l load
		line, err := b.loader.stdout.ReadBytes('\n')
		if err == nil {
			err = json.Unmarshal(line, &l)
		}
		done <- answer{&l, err}
	}()
	select {
	case a := <-done:
		return a.load, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
