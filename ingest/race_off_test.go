//go:build !race

package ingest_test

// underRace tells whether the race detector is on.
const underRace = false
