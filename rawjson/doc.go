// Package rawjson works on JSON as bytes: it scans, checks, points into, edits and
// builds it without decoding it.
//
// Two kinds of function read JSON. Skip, Walk, Get and what builds on them trust
// that their input is valid and are fast; they never panic and never go beyond the
// input, whatever it holds. Valid, Mend and Reader check it by the grammar of
// encoding/json.
//
// A value is the bytes it is written with, as a part of its document: nothing is
// copied unless a function says so. A nil value means that there is none.
package rawjson
