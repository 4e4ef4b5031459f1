package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

// namesAtOnce bounds the variables of a statement.
const namesAtOnce = 1000

// RunNames returns what runs are called. Unlike topics, it reads only the first
// exchanges of each.
func (r *reader) RunNames(ctx context.Context, ids []string) ([]transcript.RunSum, error) {
	var list []transcript.RunSum
	for len(ids) > 0 {
		n := min(len(ids), namesAtOnce)
		args := make([]any, n)
		for i := range args {
			args[i] = packID(ids[i])
		}
		ids = ids[n:]
		err := r.st.rows(ctx, runNames+strings.Repeat(", ?", n-1)+")", args, func(row *sql.Rows) error {
			var s transcript.RunSum
			var topic *string
			if err := scanRun(row, &s, &topic); err != nil {
				return err
			}
			if topic != nil {
				s.Topic = *topic
			}
			list = append(list, s)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("name runs: %w", damaged(err))
		}
	}
	return list, nil
}

// What the first exchange of a run is about that fits.
const (
	about    = "(SELECT iif(e.preview <> '', e.preview, e.method || ' ' || " + path + ") FROM exchange e WHERE e.run = r.id"
	theFirst = " ORDER BY e.n LIMIT 1)"
	runNames = `SELECT r.n, r.id, r.name, r.started, m.name, m.note, m.tags, m.pinned,
		coalesce(` + about + " AND NOT e.side AND " + isMain + theFirst + ", " + about + " AND NOT e.side" + theFirst + ", " + about + theFirst + `)
		FROM run r LEFT JOIN mark m ON m.run = r.id WHERE r.id IN (?`
)
