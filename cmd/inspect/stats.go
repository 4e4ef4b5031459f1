package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake/store"
)

func newStats(a *app) *cobra.Command {
	var storage bool
	c := &cobra.Command{
		Use:   "stats --storage",
		Short: "Tell what the database is made of",
		Long: `stats --storage tells what the recorded bodies were on the wire and what they
take up here, and what else is in the database. What was sent again is stored
once, and counted for the exchange that sent it first.`,
		Args: arguments(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if !storage {
				return usageError{errors.New("only --storage is there so far: inspect stats --storage")}
			}
			db, err := a.open()
			if err != nil {
				return err
			}
			defer db.Close()
			s, err := db.Storage(c.Context())
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(s)
			}
			return a.printStorage(s)
		},
	}
	c.Flags().BoolVar(&storage, "storage", false, "bytes by kind")
	return c
}

func (a *app) printStorage(s *store.Storage) error {
	t := a.table("kind", "raw", "stored", "ratio", "")
	traffic := func(kind string, x store.Traffic, note string) {
		ratio := ""
		if x.Stored > 0 {
			ratio = fmt.Sprintf("%.1f", float64(x.Raw)/float64(x.Stored))
		}
		t.row(kind, size(int(x.Raw)), size(int(x.Stored)), ratio, note)
	}
	part := func(kind string, bytes int64, note string) {
		if bytes > 0 {
			t.row(kind, "", size(int(bytes)), "", note)
		}
	}
	traffic("requests", s.Requests, "")
	traffic("responses", s.Responses, "")
	if s.Compressed.Raw > 0 {
		traffic("  compressed", s.Compressed, "of these: bodies that came compressed")
	}
	if s.Large.Raw > 0 {
		traffic("  large", s.Large, "of these: pieces stored alone, such as images and files")
	}
	part("unheld", s.Unheld, "of bodies that were pruned, in packs with others")
	part("recipes", s.Recipes, "how bodies are put together")
	part("header sets", s.HeaderSets, "")
	part("search index", s.Search, "")
	part("rows", s.Rows, "exchanges, calls, results, indexes, what pages leave unused")
	part("free", s.Free, "to be used again; inspect prune gives it back")
	total := store.Traffic{Raw: s.Requests.Raw + s.Responses.Raw, Stored: s.Database}
	traffic("database", total, number(s.Exchanges)+" exchange"+plural(int(s.Exchanges)))
	part("log", s.Log, "the write-ahead log beside it")
	return t.print()
}
