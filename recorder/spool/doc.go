// Package spool keeps exchanges on disk while they pass, until they are stored.
//
// A spool is a folder. Each process has a locked folder of its own in it, with files
// into which exchanges are written one after the other; exchanges that overlap in
// time are in different files. A file is a list of frames: a frame holds a part of an
// exchange and the time when it passed.
//
// A Recording writes one exchange, before its bytes are passed on, so that a killed
// process loses nothing that the client received. A Record is an exchange that has
// ended. It waits in the spool until a reader has stored it and releases it; then its
// space is used again. Leftovers are the records of a process that died:
// package retake takes them in, and Waiting counts those that still wait. A lossy
// exchange was recorded only in part, because the disk failed or stalled; a lost one
// was not recorded at all. Both are counted.
package spool
