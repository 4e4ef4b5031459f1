package main

import (
	"os"
	"strconv"
	"strings"
)

// The figures of processes come from /proc. On systems without it they are
// zero, and not printed.

// usage is what a process and its children have used.
type usage struct {
	cpu  float64 // seconds
	rss  float64 // MB resident now
	peak float64 // MB resident at most
}

func usageOf(p *process) usage {
	if p == nil {
		return usage{}
	}
	var u usage
	for _, pid := range family(strconv.Itoa(p.cmd.Process.Pid)) {
		if f := stat(pid); len(f) > statSystem {
			u.cpu += (integer(f[statUser]) + integer(f[statSystem])) / ticks
		}
		status, _ := os.ReadFile("/proc/" + pid + "/status")
		for line := range strings.Lines(string(status)) {
			f := strings.Fields(line)
			if len(f) < 2 {
				continue
			}
			switch f[0] {
			case "VmRSS:":
				u.rss += integer(f[1]) / 1024
			case "VmHWM:":
				u.peak += integer(f[1]) / 1024
			}
		}
	}
	return u
}

// ticks is the number of ticks per second in /proc/PID/stat, on every Linux.
const ticks = 100

// Fields of /proc/PID/stat after the name, which may contain anything.
const (
	statParent = 1
	statUser   = 11
	statSystem = 12
)

func stat(pid string) []string {
	b, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return nil
	}
	return strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
}

// family returns a process and its descendants.
func family(pid string) []string {
	all, _ := os.ReadDir("/proc")
	children := map[string][]string{}
	for _, entry := range all {
		if _, err := strconv.Atoi(entry.Name()); err != nil {
			continue
		}
		if f := stat(entry.Name()); len(f) > statParent {
			children[f[statParent]] = append(children[f[statParent]], entry.Name())
		}
	}
	found := []string{pid}
	for n := 0; n < len(found); n++ {
		found = append(found, children[found[n]]...)
	}
	return found
}

func integer(s string) float64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return float64(n)
}
