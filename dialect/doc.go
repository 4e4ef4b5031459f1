// Package dialect reads and rewrites the bytes of one provider API at a time.
//
// Words used here:
//
//   - A Dialect is an API's format (chat, responses, messages), not a vendor:
//     Azure, vLLM, OpenRouter and others speak one of them.
//   - A Wire is one exchange's bytes with content encodings undone.
//   - Recognise says which dialect a wire speaks, Decode reads it into a
//     transcript.Turn. Both are total: they take any bytes, never fail, and say
//     in Turn.Warnings what was odd.
//   - Reassembly turns an event stream into the object that the same API would
//     have answered without streaming. A stream is decoded by reassembling it
//     and then reading that object, so both ways give the same Turn.
//   - A body that was cut is mended: read up to the cut, its brackets closed.
//   - A segment is a byte range of a body, cut at the elements of its large
//     arrays, so that what is resent can be stored once.
//   - An outline is a request body read once: its members, and the elements of
//     its large arrays. Split cuts there, and Decode reads from there.
//   - A Memory remembers elements with what was read from them, so that history
//     that is sent again is compared instead of read. What it gives is what
//     Decode gives without one.
//   - A draft is a request on its way from one dialect to another; a Loss is what
//     of it could not be carried, or not as it was.
//   - A splice is an edit that leaves every byte outside the edited value as it
//     was.
//
// What is known of an API lies in its folder, behind a descriptor (api.API) in one list
// (list.go). What single vendors do differently stands beside it with where it was seen.
package dialect
