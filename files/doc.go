// Package files takes files in: it finds out which format one is in, has its
// exchanges committed, and tells what became of it. Whoever gets a file, by a path or
// by an upload, uses it.
package files
