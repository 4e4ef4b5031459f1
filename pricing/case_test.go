package pricing_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/pricing"
)

func read(t *testing.T, parts ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(append([]string{"testdata", "cases"}, parts...)...))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func table(t *testing.T, prices []byte) *pricing.Table {
	t.Helper()
	table := pricing.New()
	if err := table.Override(bytes.NewReader(prices)); err != nil {
		t.Fatal(err)
	}
	return table
}

// use decodes an exchange and gives what is to be paid for it.
func use(path string, request, response []byte, contentType string) pricing.Use {
	w := &dialect.Wire{Method: "POST", URL: "https://api.test" + path, Status: 200, Request: request, Response: response,
		ResponseHeader: map[string][]string{"Content-Type": {contentType}}}
	turn := dialect.Decode(dialect.Recognise(w), w)
	return pricing.Use{URL: w.URL, Model: turn.Model, ResponseModel: turn.ResponseModel, Usage: turn.Usage}
}

// Usage that comes cumulative counts once: 25 and 15 tokens.
func TestCost_OfCumulativeUsage(t *testing.T) {
	u := use("/v1/messages", read(t, "D-USE-01", "request.json"), read(t, "D-USE-01", "response.sse"), "text/event-stream")
	prices := `{"models":{"` + u.Model + `":{"input":"1000000","output":"1000"}}}`
	if got := table(t, []byte(prices)).Cost(u); got.String() != "25.015" || got.LowerBound {
		t.Errorf("cost %s, lower bound %v", got, got.LowerBound)
	}
}

// Cached tokens are a part of the prompt (OpenAI) or beside it (Anthropic).
func TestCost_OfCachedTokens(t *testing.T) {
	prices := table(t, read(t, "D-USE-02", "prices.json"))
	var want map[string]struct {
		Cost string `json:"cost_usd"`
	}
	if err := json.Unmarshal(read(t, "D-USE-02", "expect.json"), &want); err != nil {
		t.Fatal(err)
	}
	for number, path := range map[string]string{"01": "/v1/chat/completions", "02": "/v1/messages"} {
		u := use(path, read(t, "D-USE-02", number+".request.json"), read(t, "D-USE-02", number+".response.json"), "application/json")
		if got := prices.Cost(u); got.String() != want[number].Cost || got.LowerBound {
			t.Errorf("%s: cost %s (lower bound %v), want %s", number, got, got.LowerBound, want[number].Cost)
		}
	}
}

// An unknown price is not zero, a price of zero is, and a total without some is
// a lower bound.
func TestTotal_WithUnknownPrices(t *testing.T) {
	prices := table(t, read(t, "D-USE-03", "prices.json"))
	var want struct {
		Costs map[string]*string
		Run   struct {
			Known    string `json:"known_usd"`
			Lower    bool   `json:"is_lower_bound"`
			Unpriced int    `json:"unpriced_exchanges"`
			Tokens   int64  `json:"unpriced_tokens"`
		} `json:"run_cost"`
	}
	if err := json.Unmarshal(read(t, "D-USE-03", "expect.json"), &want); err != nil {
		t.Fatal(err)
	}
	var total pricing.Total
	lines := bufio.NewScanner(bytes.NewReader(read(t, "D-USE-03", "exchanges.jsonl")))
	n := 0
	for lines.Scan() {
		var x struct {
			ID, Path          string
			Request, Response json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &x); err != nil {
			t.Fatal(err)
		}
		n++
		u := use(x.Path, x.Request, x.Response, "application/json")
		cost := prices.Cost(u)
		total.Add(u, cost)
		if expected := want.Costs[x.ID]; expected == nil && cost.USD != nil || expected != nil && cost.String() != *expected {
			t.Errorf("%s: cost %q", x.ID, cost)
		}
	}
	if n != len(want.Costs) {
		t.Fatalf("%d exchanges found", n)
	}
	if pricing.Dollars(total.USD()) != want.Run.Known || total.LowerBound != want.Run.Lower || total.Unpriced != want.Run.Unpriced || total.UnpricedTokens != want.Run.Tokens {
		t.Errorf("total %s, %+v", pricing.Dollars(total.USD()), total)
	}
}
