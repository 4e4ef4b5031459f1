package main

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestProgram_RunsOnWhenItsPagesAreGivenBack(t *testing.T) {
	before, least := residentFile(t), 1<<30
	for range 10 {
		letGoOfProgram()
		least = min(least, residentFile(t)) // how much comes back at once is the kernel's choice
	}
	if least >= before {
		t.Errorf("%d kB of files are resident, %d before", least, before)
	}
}

// residentFile tells how many kB of files the process has in memory.
func residentFile(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	for line := range strings.Lines(string(status)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "RssFile:" {
			n, err := strconv.Atoi(f[1])
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Skip("the system does not tell")
	return 0
}
