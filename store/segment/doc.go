// Package segment keeps bodies so that what is sent again is stored once. It reads
// and writes through Rows and RowWriter, which an engine implements.
//
// A segment is a part of a body that is stored once, however often it is sent. Its
// id never changes. It is found by a hash of its bytes, and the bytes are compared
// before two segments count as one. A removed segment leaves its number, with
// length 0 in its pack.
//
// A pack is a run of consecutive segments, compressed together. Its key is the
// number of its first segment, so that neighbours can be merged without touching
// anything else. Small packs are not compressed until a later transaction, a rest,
// or the closing of the file merges them. A large segment has a pack to itself.
//
// A stream is one sequence of segment numbers with its own packs. The parts of
// bodies that were cut are in one stream, everything else (answers, images, what
// could not be cut) in the other, so that reading a history does not unpack
// answers.
//
// A recipe is the list of segments of a body, written as a delta against the recipe
// of an earlier body: its base. Bases are chosen as in a skip list: the n-th body of
// a conversation is log n deltas away from a recipe without a base.
//
// A Writer cuts a body and stores what is new; a Reader puts it together
// again, byte for byte.
package segment
