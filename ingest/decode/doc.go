// Package decode reads captures: it cuts their bodies into segments, hashes them,
// leaves out or replaces what the user does not want stored, and decodes them with
// their dialect. What comes out is ready to be linked and stored.
package decode
