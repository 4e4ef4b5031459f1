// Package files imports and exports files. An import finds out a file's format, commits
// its exchanges and reports what it found; an export writes chosen runs and exchanges in
// one form. Commands and pages use it alike, whether a file has a path or comes over a
// connection.
package files
