// Package store keeps exchanges for ever in one SQLite file, behind the
// interfaces of package transcript. Nothing outside it knows that it is SQLite.
//
// Its words:
//
// A segment is a piece of a body that is stored once, however often it is sent;
// its id never changes. It is found by a hash of its bytes, and the bytes are
// compared before two segments count as one.
//
// A pack is a run of consecutive segments, compressed together. Its key is the
// id of its first segment, so neighbours can be merged without touching
// anything else. Packs that are still small are loose: they are not compressed
// until a later transaction, or the closing of the file, merges them. A large
// segment has a pack to itself.
//
// A lane is one sequence of segment ids with its own packs. The pieces of
// bodies that were cut lie in one lane, everything else (answers, images, what
// nobody could cut) in the other, so that reading a history does not unpack
// answers.
//
// A recipe is the list of segments that make a body, written down as a delta
// against the recipe of an earlier body: its base. Bases are chosen as in a skip
// list, so that the n-th body of a conversation is log n deltas away from a
// recipe that stands alone.
//
// A header set is the names of a message's headers with the values that were
// seen first; a message stores which set and the values that differ.
//
// A lookup leads from a hash to a row: to a segment by its bytes, to an exchange
// by its node. Whoever follows one checks what it finds.
//
// What exchanges hold is what they are rebuilt from: segments, recipes, header
// sets. The rest is garbage, which Prune sweeps. A segment is unlisted once no
// lookup leads to it; then nobody can come to hold it again. A removed segment
// leaves its number behind, with length 0 within a pack.
//
// The writer is the one connection of a DB that writes, the readers are a pool
// beside it, and the checkpointer moves what was written from the write-ahead
// log into the file, on a connection of its own, so that the writer need not.
package store
