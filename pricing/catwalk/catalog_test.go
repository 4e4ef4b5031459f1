// Package catwalk compares the prices in pricing/catwalk.tsv with the module that
// they come from. It is a Go module of its own: the project needs the prices, not
// the module, which pins a patch release of Go.
package catwalk

import (
	"flag"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"charm.land/catwalk/pkg/embedded"
)

var update = flag.Bool("update", false, "write ../catwalk.tsv")

const prices = "../catwalk.tsv"

// TestCatalog_IsTheModules fails when catwalk.tsv is not what the module in go.mod says.
func TestCatalog_IsTheModules(t *testing.T) {
	var lines []string
	for _, p := range embedded.GetAll() {
		if u, err := url.Parse(p.APIEndpoint); err == nil && u.Host != "" {
			lines = append(lines, fmt.Sprintf("%s\t%s", p.ID, p.APIEndpoint))
		}
		for _, m := range p.Models {
			in, out := exact(m.CostPer1MIn), exact(m.CostPer1MOut)
			if in != "" && out != "" {
				lines = append(lines, fmt.Sprintf("%s\t%s\t%s\t%s", p.ID, strings.ToLower(m.ID), in, out))
			}
		}
	}
	if len(lines) < 500 {
		t.Fatalf("only %d prices found", len(lines))
	}
	slices.Sort(lines)
	want := strings.Join(slices.Compact(lines), "\n") + "\n"
	if *update {
		if err := os.WriteFile(prices, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(prices)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("catwalk.tsv differs from the module: run go test -update in pricing/catwalk and look at the changes")
	}
}

// exact returns the decimal that a float of the catalog was written as: some were
// computed, so that the price of gpt-4.1-mini is 0.39999999999999997. It returns ""
// for zero: nobody priced that model, or a subscription pays for it.
func exact(f float64) string {
	const digits = 9
	s := strings.TrimRight(strings.TrimRight(strconv.FormatFloat(f, 'f', digits, 64), "0"), ".")
	if f <= 0 || s == "0" {
		return ""
	}
	return s
}
