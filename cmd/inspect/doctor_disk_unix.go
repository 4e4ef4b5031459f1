//go:build linux || darwin

package main

import (
	"math"
	"path/filepath"
	"syscall"
)

// freeSpace returns the free bytes at the location of a file, which need not exist.
func freeSpace(path string) (int64, bool) {
	var s syscall.Statfs_t
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if syscall.Statfs(dir, &s) == nil {
			return int64(min(s.Bavail, math.MaxInt64/uint64(s.Bsize)) * uint64(s.Bsize)), true
		}
		if dir == filepath.Dir(dir) {
			return 0, false
		}
	}
}
