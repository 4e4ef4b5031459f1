package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/retake-debugger/retake/recorder/spool"
)

// The targets.
const (
	direct       = "direct"
	reverseproxy = "reverseproxy"
	nginx        = "nginx"        // only where it is installed
	recording    = "recorder"     // as it is shipped
	recorderOff  = "recorder-off" // the same, recording nothing
	profiled     = "profiled"     // its parts in a process that writes profiles
)

var targetNames = []string{direct, reverseproxy, nginx, recording, recorderOff, profiled}

// target is a way to the model.
type target struct {
	name    string
	address string
	process *process // nil for direct
	folder  string   // its files
	idle    float64  // MB resident before the first request
}

var errNotInstalled = errors.New("not installed")

// startTarget starts a target that leads to the model at that address.
// errNotInstalled if there is no such program.
func startTarget(ctx context.Context, o *options, name, model, folder string, s *scenario) (*target, error) {
	t := &target{name: name, address: model, folder: filepath.Join(folder, name)}
	if name == direct {
		return t, nil
	}
	if err := os.MkdirAll(t.folder, 0o700); err != nil {
		return nil, err
	}
	var err error
	switch url := "http://" + model; name {
	case reverseproxy:
		t.process, err = startRole(ctx, roleReverseProxy, url)
	case recorderOff:
		t.process, err = startRecorder(ctx, o, url, t.database(), "--exclude-path", "/")
	case profiled:
		stem := filepath.Join(o.profile, s.Name)
		t.process, err = startRole(ctx, roleProfiled, url, t.folder, stem+".cpu", stem+".heap")
	case nginx:
		t.process, err = startNginx(ctx, model, t.folder)
	default:
		t.process, err = startRecorder(ctx, o, url, t.database())
	}
	if err != nil {
		return nil, err
	}
	t.address = t.process.address
	wait(ctx, 300*time.Millisecond)
	t.idle = usageOf(t.process).rss
	return t, nil
}

func (t *target) database() string { return filepath.Join(t.folder, "bench.db") }

// end ends the target and removes its files.
func (t *target) end() error {
	if t.process == nil {
		return nil
	}
	return errors.Join(t.process.end(), os.RemoveAll(t.folder))
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

func startRecorder(ctx context.Context, o *options, upstream, db string, more ...string) (*process, error) {
	path, err := filepath.Abs(filepath.Join(o.bin, "recorder"))
	if err != nil {
		return nil, err
	}
	args := []string{"--listen", "127.0.0.1:0", "--web", "off", "--db", db, "--upstream", upstream}
	cmd := exec.Command(path, append(args, more...)...)
	return startProgram(ctx, recording, cmd, func(line string) string {
		rest, ok := strings.CutPrefix(line, "recording on http://")
		if !ok {
			return ""
		}
		address, _, _ := strings.Cut(rest, " ")
		return address
	})
}

const nginxConfig = `worker_processes 2;
daemon off;
pid %[1]s/pid;
error_log stderr notice;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path %[1]s/body;
  proxy_temp_path %[1]s/proxy;
  fastcgi_temp_path %[1]s/fastcgi;
  uwsgi_temp_path %[1]s/uwsgi;
  scgi_temp_path %[1]s/scgi;
  client_max_body_size 0;
  keepalive_requests 100000000;
  upstream model { server %[2]s; keepalive 256; keepalive_requests 100000000; }
  server {
    listen %[3]s;
    location / {
      proxy_pass http://model;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_request_buffering off;
    }
  }
}
`

func startNginx(ctx context.Context, model, folder string) (*process, error) {
	path, err := exec.LookPath("nginx")
	if err != nil {
		return nil, errNotInstalled
	}
	// nginx does not choose a free port by itself.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := l.Addr().String()
	l.Close()
	config := filepath.Join(folder, "nginx.conf")
	if err := os.WriteFile(config, fmt.Appendf(nil, nginxConfig, folder, model, address), 0o600); err != nil {
		return nil, err
	}
	return startProgram(ctx, nginx, exec.Command(path, "-p", folder, "-c", config), func(line string) string {
		if strings.Contains(line, "start worker process ") {
			return address
		}
		return ""
	})
}

// undone is the work that a recorder has left.
type undone struct {
	store int   // exchanges in the spool
	index int64 // exchanges that are not in the search index
}

func (t *target) undone(ctx context.Context) (undone, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+t.address+"/_retake/status", nil)
	if err != nil {
		return undone{}, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return undone{}, err
	}
	defer resp.Body.Close()
	var status struct {
		Spool  spool.Stats `json:"spool"`
		Search struct {
			Index bool  `json:"index"` // there is one
			Lag   int64 `json:"lag"`
		} `json:"search"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&status); err != nil {
		return undone{}, fmt.Errorf("read status: %w", err)
	}
	u := undone{store: status.Spool.Backlog + status.Spool.InFlight}
	if status.Search.Index {
		u.index = status.Search.Lag
	}
	return u, nil
}

// drained is how long a recorder took to finish.
type drained struct{ stored, indexed time.Duration }

// indexWithin bounds how long the next cell waits for the search index.
const indexWithin = 10 * time.Second

// drain waits until a recorder has stored everything, for a bounded time, and then
// until it has indexed everything, so that the next cell has the machine to itself.
func (t *target) drain(ctx context.Context, most time.Duration) (d drained, err error) {
	if t.name != recording && t.name != profiled {
		return d, nil
	}
	start := time.Now()
	for {
		left, err := t.undone(ctx)
		took := time.Since(start)
		switch {
		case err != nil:
			return d, err
		case left.store > 0 && took > most:
			return d, fmt.Errorf("%s: %d exchanges are not stored after %s", t.name, left.store, most)
		case left.store == 0 && d.stored == 0:
			d.stored = took
		}
		if left.store == 0 && (left.index == 0 || took > d.stored+indexWithin) {
			d.indexed = took
			return d, nil
		}
		wait(ctx, 20*time.Millisecond+took/20) // asking takes time of the machine as well
	}
}
