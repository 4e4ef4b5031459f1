// Package store keeps exchanges for ever in one SQLite file, behind the
// interfaces of package transcript.
package store
