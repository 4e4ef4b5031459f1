// Package formats writes transcripts as other people's tools read them: one
// file for each format. What a format cannot carry is never dropped silently;
// it is returned as a list.
package formats
