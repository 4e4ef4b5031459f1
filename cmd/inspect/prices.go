package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/retake-debugger/retake/pricing"
)

// prices gives the table of prices, with what the user's own file says: --prices,
// else $RETAKE_PRICES, else $XDG_CONFIG_HOME/retake/prices.json if it is there.
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
	if err != nil {
		return nil, usageError{err}
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
