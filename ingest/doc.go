// Package ingest is the one place that decodes, links and commits. It takes
// captures from a recorder's spool, reads them with their dialect, finds the
// exchange whose history each one continues, and commits many of them in one
// transaction. Spool space is given back only after the commit.
//
// Every program that records or imports runs it, so that what is stored is
// derived in the same way everywhere.
package ingest
