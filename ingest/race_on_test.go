//go:build race

package ingest_test

// underRace tells whether the race detector is on, which makes all ten times
// slower.
const underRace = true
