package main

import (
	"strings"
	"testing"
)

func TestWeb_NamesToolsWithoutSecrets(t *testing.T) {
	secret := "ghp_" + strings.Repeat("a1", 18)
	f := sourceFlags{exec: []string{"run=echo " + secret}, http: []string{"ask=http://127.0.0.1:1/?key=" + secret}, mcp: []string{"npx server --token " + secret}}
	var names []string
	for _, tool := range f.forPages() {
		names = append(names, tool.Name)
	}
	if got := strings.Join(names, ", "); got != "exec run, http ask, mcp npx server --token [redacted:github:1]" {
		t.Error(got)
	}
}

func TestWeb_ChecksThatPagesMayChooseAreNamedAtTheStart(t *testing.T) {
	checks, err := pageChecks([]string{"good=grep -q yes"})
	if err != nil || len(checks) != 1 || checks[0].Name != "good" {
		t.Fatalf("%+v, %v", checks, err)
	}
	for text, want := range map[string]bool{"yes": true, "no": false} {
		if got, err := checks[0].Holds(t.Context(), text, "t1"); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, wrong := range []string{"good", "=true", "good="} {
		if _, err := pageChecks([]string{wrong}); err == nil {
			t.Errorf("--check %q is taken", wrong)
		}
	}
}
