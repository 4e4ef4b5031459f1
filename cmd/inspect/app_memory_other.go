//go:build !linux

package main

// hugePages does nothing: elsewhere the kernel decides by itself.
func hugePages() {}
