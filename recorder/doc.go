// Package recorder captures model traffic without changing or delaying it.
//
// One core, three faces: a Proxy relays to configured upstreams, Middleware
// wraps any http.Handler, and NewTransport wraps any http.RoundTripper. What
// they see goes into a Spool. The package knows no API and no database.
//
// A spool is a folder of lanes: files into which exchanges are written while
// they pass, before the bytes are handed on, so that a killed process loses
// nothing that the client received. A record is an exchange that has ended
// and waits in the spool until somebody has stored it and releases it; its
// space is then written over. Leftovers are the records of a process that died.
// A lossy exchange passed unharmed but is recorded only in part, because the
// disk failed or stalled; a lost one is not recorded at all. Both are counted.
package recorder
