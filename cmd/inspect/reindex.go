package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake"
	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/ingest/reindex"
	"github.com/retake-debugger/retake/transcript"
)

func newReindex(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "reindex",
		Short: "Decode and link all exchanges again, such as after an update",
		Long: `reindex discards what was derived from the recorded bytes - dialects, usage, links
between exchanges, runs, calls and their results, warnings, the search index - and
derives it again with this version. Bodies, numbers, ids, labels and replays stay.
Nothing is sent anywhere.

It works in short steps while a recorder records. After an interruption the same
command continues where it stopped. "inspect verify" reports whether it is needed.`,
		Args: arguments(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			db, err := a.openToWrite()
			if err != nil {
				return err
			}
			defer db.Close()
			p := a.progress()
			mended, err := db.MendLookups(c.Context(), func(done, newest int64) { p.show("looking for lost lookups", done, newest) })
			if mended > 0 {
				p.clear()
				fmt.Fprintf(a.err, "inspect: %s lost lookup%s mended\n", number(int64(mended)), plural(mended))
			}
			var did reindex.Result
			if err == nil {
				did, err = reindex.Run(c.Context(), db, retake.Version(), func(done, newest int64) { p.show("deriving", done, newest) })
			}
			if err == nil {
				p.show("indexing for search, exchanges", did.Exchanges, 0)
				_, err = ingest.Index(c.Context(), db)
				if errors.Is(err, transcript.ErrNoIndex) {
					err = nil
				}
			}
			p.clear()
			if err != nil && c.Context().Err() != nil {
				return fmt.Errorf("interrupted after %s exchange%s; run the same command to continue", number(did.Exchanges), plural(int(did.Exchanges)))
			}
			if err != nil {
				return err
			}
			return a.printReindexed(did)
		},
	}
}

func (a *app) printReindexed(did reindex.Result) error {
	var err error
	if a.json {
		err = a.printJSON(did)
	} else {
		from := ""
		if did.From > 0 {
			from = fmt.Sprintf(", going on after x%d", did.From)
		}
		_, err = fmt.Fprintf(a.out, "%s exchange%s derived again%s; %s changed\n", number(did.Exchanges), plural(int(did.Exchanges)), from, number(did.Changed))
	}
	if did.Unreadable > 0 && err == nil {
		fmt.Fprintf(a.err, "inspect: %s exchange%s could not be read and stayed as they were; see \"inspect verify\"\n", number(did.Unreadable), plural(int(did.Unreadable)))
		return errFindings
	}
	return err
}
