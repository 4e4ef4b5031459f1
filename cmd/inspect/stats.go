package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake/store"
)

func newStats(a *app) *cobra.Command {
	var storage bool
	var o statsOptions
	c := &cobra.Command{
		Use:   "stats [RUN]",
		Short: "Sum up exchanges by model, tool and run; show what takes space",
		Long: `stats sums up all exchanges, or those of a run: by model (failures, tokens, how much
of the input came from a cache, cost, duration of complete answers), by tool and by
run. Replays and side calls count too. Latency of tools is the time from the end of
an answer with calls to the request with their results. A cost with ≥ leaves out
what has no known price. In a pipe there is one table, by model unless --by says
otherwise.

stats --storage shows the size of the recorded bodies on the wire and in the
database, and what else the database contains. What was sent again is stored once,
and counted for the exchange that sent it first.

Exit status: 0 fine, 2 wrong usage, 3 not found.`,
		Example: `  inspect stats
  inspect stats r12
  inspect stats --since 7d --by tool
  inspect stats --storage
  inspect stats --json | jq .total.cost_usd`,
		Args: arguments(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if !storage {
				return a.usageStats(c.Context(), &o, args)
			}
			if len(args) > 0 || o != (statsOptions{}) {
				return usageError{errors.New("--storage is about the whole database: give nothing with it")}
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
	f := c.Flags()
	f.BoolVar(&storage, "storage", false, "print the bytes of the database by kind")
	f.StringVar(&o.by, "by", "", "only this table: model, tool or run")
	f.StringVar(&o.since, "since", "", "only since then: 2h, 7d, 2026-03-01")
	f.StringVar(&o.model, "model", "", "only models whose name contains this")
	return c
}

// size formats bytes: short for people, exact for programs.
func (a *app) size(bytes int64) string {
	if a.terminal() {
		return size(int(bytes))
	}
	return strconv.FormatInt(bytes, 10)
}

func (a *app) printStorage(s *store.Storage) error {
	t := a.table("kind", "raw|raw_bytes", "stored|stored_bytes", "ratio", "|note")
	traffic := func(kind string, x store.Traffic, note string) {
		ratio := ""
		if x.Stored > 0 {
			ratio = fmt.Sprintf("%.1f", float64(x.Raw)/float64(x.Stored))
		}
		t.row(kind, a.size(x.Raw), a.size(x.Stored), ratio, note)
	}
	part := func(kind string, bytes int64, note string) {
		if bytes > 0 {
			t.row(kind, "", a.size(bytes), "", note)
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
	part("unheld", s.Unheld, "of bodies that no exchange has any more, in packs with others")
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
