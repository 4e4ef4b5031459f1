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
