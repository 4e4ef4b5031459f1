package web_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/web"
)

func TestPages_ShowFindingsAtTheirItems(t *testing.T) {
	h := sampleViewer(t)
	for _, tt := range []struct{ path, item, code string }{
		{"/r/1", `class="pair unanswered"`, "missing_tool_result"},
		{"/x/3", `class="pair unanswered"`, "missing_tool_result"},
		{"/x/4", `class="pair orphan"`, "orphan_tool_result"},
	} {
		page := ask(h, "GET", tt.path).Body.String()
		_, behind, ok := strings.Cut(page, tt.item)
		if !ok {
			t.Errorf("%s: no %s", tt.path, tt.item)
			continue
		}
		item, _, _ := strings.Cut(behind, "</article>")
		if !strings.Contains(item, "▲ "+tt.code) {
			t.Errorf("%s: no %s in %s", tt.path, tt.code, item)
		}
		if !strings.Contains(page, "finding") || !strings.Contains(page, "▲ ") {
			t.Errorf("%s: the head does not count findings", tt.path)
		}
	}
}

func TestAPI_GivesCosts(t *testing.T) {
	prices := pricing.New()
	if err := prices.Override(strings.NewReader(`{"models":{"*":{"input":"2","cache_read":"1","cache_write":"1","output":"8"}}}`)); err != nil {
		t.Fatal(err)
	}
	o := options(sampleStore(t))
	o.Prices = prices
	h := web.New(o)
	for _, path := range []string{"/api/runs", "/api/runs/1", "/api/exchanges", "/api/exchanges/1"} {
		var found bool
		var look func(v any)
		look = func(v any) {
			switch v := v.(type) {
			case []any:
				for _, e := range v {
					look(e)
				}
			case map[string]any:
				if s, ok := v["cost_usd"].(string); ok && s != "" {
					found = true
				}
				for _, e := range v {
					look(e)
				}
			}
		}
		var v any
		if err := json.Unmarshal(ask(h, "GET", path).Body.Bytes(), &v); err != nil {
			t.Fatal(path, err)
		}
		if look(v); !found {
			t.Errorf("%s: no cost", path)
		}
	}
	for _, path := range []string{"/r/1", "/x/1"} {
		if page := ask(h, "GET", path).Body.String(); !strings.Contains(page, ">$0.") && !strings.Contains(page, "≥ $0.") {
			t.Errorf("%s: no cost", path)
		}
	}
}
