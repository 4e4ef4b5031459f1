// Package store keeps exchanges in one SQLite file, behind the interfaces of
// package transcript. No package above it knows that it is SQLite.
//
// Its rooms: store/segment keeps bodies and needs only rows of packs and recipes;
// store/search keeps the search index; this package has the rows of SQLite, its
// connections and its file. A second engine writes these anew, uses the rooms, and
// passes storetest.
//
// Its words:
//
// A lookup leads from a hash to a row: to a segment by its bytes, to an exchange by
// its node. What it leads to is always compared with what was looked for.
//
// A header set is the names of a message's headers with the values that were seen
// first. A message stores its set and the values that differ.
//
// What exchanges hold is what they are rebuilt from: segments, recipes, header
// sets. The rest is garbage, which Prune removes. A segment is unlisted once no
// lookup leads to it; from then on no new body can hold it.
//
// The writer is the one connection of a DB that writes. The readers are a pool
// beside it. The checkpointer moves what was written from the write-ahead log into
// the file, on a connection of its own, so that the writer need not; when nothing
// was written for a while it makes the file small.
package store
