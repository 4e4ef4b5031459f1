package store

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/retake-debugger/retake/transcript"
)

// timelines cuts the time of each run into slices and counts what began in each.
// The counts have told when the runs began and ended.
func (s *runSums) timelines() error {
	var spans [][3]int64 // number of the run, when it began, how long it took
	for _, sum := range s.byID {
		if !sum.StartedAt.IsZero() && !sum.EndedAt.IsZero() {
			spans = append(spans, [3]int64{sum.N, sum.StartedAt.UnixNano(), max(1, sum.EndedAt.Sub(sum.StartedAt).Nanoseconds())})
		}
	}
	text, err := json.Marshal(spans)
	if err != nil {
		return err
	}
	if err := s.slices(string(text), `SELECT e.run, `+sliceOf("e.started")+` AS part, max(`+sliceOf("e.started + e.duration")+`), count(*),
		sum(e.outcome NOT IN ('ok', 'in_progress') OR e.calls > 0 AND EXISTS (SELECT 1 FROM pair r WHERE r.n = e.n AND r.kind = 1 AND r.is_error)), 0
		FROM `+ofSpans+` JOIN exchange e ON e.run = r.id WHERE e.started IS NOT NULL AND NOT e.side AND `+noTake+` GROUP BY e.run, part`); err != nil {
		return err
	}
	for _, sum := range s.byID {
		if sum.Takes > 0 {
			return s.slices(string(text), `SELECT r.id, `+sliceOf("e.started")+` AS part, 0, 0, 0, count(*)
				FROM `+ofSpans+` JOIN exchange e ON e.run = r.id JOIN take t ON t.origin = e.id WHERE e.started IS NOT NULL GROUP BY r.id, part`)
		}
	}
	return nil
}

const ofSpans = "json_each(?) j JOIN run r ON r.n = j.value ->> 0"

// sliceOf returns the slice of a moment.
func sliceOf(moment string) string {
	return fmt.Sprintf("max(0, min(%d, CAST(%d.0 * (%s - (j.value ->> 1)) / (j.value ->> 2) AS INTEGER)))", transcript.TimeSlices-1, transcript.TimeSlices, moment)
}

// slices adds the rows of a query to the timelines, in the order of time.
func (s *runSums) slices(spans, query string) error {
	err := s.st.rows(s.ctx, query, []any{spans}, func(row *sql.Rows) error {
		var id any
		var t transcript.TimeSlice
		if err := row.Scan(&id, &t.At, &t.Until, &t.Steps, &t.Errors, &t.Takes); err != nil {
			return err
		}
		sum := s.byID[unpackID(id)]
		if sum == nil {
			return nil
		}
		i, known := slices.BinarySearchFunc(sum.Timeline, t.At, func(t transcript.TimeSlice, at int) int { return t.At - at })
		if !known {
			t.Until = max(t.Until, t.At)
			sum.Timeline = slices.Insert(sum.Timeline, i, t)
			return nil
		}
		sum.Timeline[i].Takes += t.Takes
		return nil
	})
	return err
}
