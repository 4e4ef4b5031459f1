// Package ingest is the one place that decodes, links and commits. A Runner reads the
// records of a spool; a Committer decodes captures (ingest/decode), finds the exchange
// that each one continues (ingest/link) and stores many in one transaction. Spool
// space is released only after the commit. ingest/reindex derives again what is
// stored. An Indexer fills the search index.
//
// Every program that records or imports uses it, so that what is stored is derived in
// the same way everywhere.
package ingest
