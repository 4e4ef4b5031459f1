package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// prices returns the price table, including the user's own file: --prices, else
// $RETAKE_PRICES, else $XDG_CONFIG_HOME/retake/prices.json if it exists.
func (a *app) prices() (*pricing.Table, error) {
	table := pricing.New()
	path, must := a.pricesFile, true
	if path == "" {
		path = a.getenv("RETAKE_PRICES")
	}
	if path == "" {
		path, must = a.usualPrices(), false
	}
	if path == "" {
		return table, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) && !must {
		return table, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notFound(fmt.Sprintf("no file %q with prices; --prices and $RETAKE_PRICES name one", path))
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := table.Override(f); err != nil {
		return nil, usageError{fmt.Errorf("%s: %w", path, err)}
	}
	return table, nil
}

func (a *app) usualPrices() string {
	config := a.getenv("XDG_CONFIG_HOME")
	if config == "" {
		home := a.getenv("HOME")
		if home == "" {
			return ""
		}
		config = filepath.Join(home, ".config")
	}
	return filepath.Join(config, "retake", "prices.json")
}

// weigh sets the costs of a run and, for programs, its findings.
func (a *app) weigh(ctx context.Context, r transcript.Reader, run *view.Run) error {
	table, err := a.prices()
	if err != nil {
		return err
	}
	run.Price(table)
	if !a.json {
		return nil
	}
	return run.Judge(ctx, r, view.InputCost(table))
}

// exchangeCost formats the cost of an exchange. If it is unknown, it names the
// model to add to the prices.
func exchangeCost(r *view.Row) string {
	switch {
	case r.CostUSD != nil && r.Usage != nil && !r.Usage.Complete:
		return "≥ $" + *r.CostUSD
	case r.CostUSD != nil:
		return "$" + *r.CostUSD
	case r.Usage != nil:
		return noPrice([]string{r.Model}, []string{pricing.Host(r.URL)})
	}
	return ""
}

// runCost formats the cost of a run.
func runCost(r *view.RunRow) string {
	cost := ""
	if r.CostUSD != nil {
		cost = "$" + *r.CostUSD
		if r.CostIsLowerBound {
			cost = "≥ " + cost
		}
	}
	if len(r.Unpriced.Models) > 0 {
		cost = join([]string{cost, noPrice(r.Unpriced.Models, r.Unpriced.Hosts)})
	}
	return cost
}

// noPrice names the models without a price, and where to add one.
func noPrice(models, hosts []string) string {
	return fmt.Sprintf("no price for %s at %s (--prices adds one)", word(strings.Join(models, ", ")), word(strings.Join(hosts, ", ")))
}
