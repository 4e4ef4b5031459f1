// Package retake records what a Go program and a model say to each other, reads
// it back and runs it again. The commands recorder and inspect are built on it.
//
//	db, err := retake.Open(ctx, "agent.db", retake.Options{})
//	if err != nil {
//		return err
//	}
//	defer db.Close()
//	client := &http.Client{Transport: db.Transport(nil)}
//
// Everything that the client sends and receives is now recorded, byte for byte and
// without credentials. Pass the client to an SDK. Wrap a server with
// [DB.Middleware], or run a proxy with [DB.Proxy].
//
// [Reader.Runs] lists runs, [Reader.Run] reads one with its steps, and
// [Reader.Exchange] reads one call with its items and pairs. References are those
// of the command line: r12, r12.3, x345, last.
//
// # Database and spool
//
// An exchange is written to a spool while it passes, and moves into the database
// after it has ended. The database is never on the path of a request: while it is
// locked, broken or missing, recording goes on in the spool and opening is tried
// again. Several processes may record into one database at once; each has a spool
// folder of its own. What a process leaves in its spool when it dies is taken in by
// any other process that has the database open, or by the next one.
//
// Build with the tag sqlite_fts5 for the search index; without it a search reads every
// exchange.
//
// Call [DB.Flush] before you read what was recorded a moment ago.
package retake
