// Package reindex derives again what stored exchanges mean.
//
// A draft is a transaction about one exchange that keeps what would be written and
// reads what was stored when the exchange came (rederive.go). Run writes what differs,
// Compare only reports it, and Relink links exchanges again after an override or when
// one that they continue came late.
package reindex
