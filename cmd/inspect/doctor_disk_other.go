//go:build !linux && !darwin

package main

// freeSpace is unknown on this system.
func freeSpace(string) (int64, bool) { return 0, false }
