// Package files takes files in and writes them: it finds out which format one is in,
// has its exchanges committed and tells what became of it; and it writes chosen runs
// and exchanges in a form. Commands and pages both use it, whether a file has a path or
// goes over a connection.
package files
