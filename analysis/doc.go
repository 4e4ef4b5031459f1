// Package analysis compares what was read: two conversations act by act (AlignActs), a
// request with the history before it (Compare), texts word by word (DiffWords) and JSON
// values (DiffJSON). It reads no store.
package analysis
