package transcript

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

// Roles stay small enough to be implemented by hand in a test.
func TestStore_RolesAreSmall(t *testing.T) {
	roles := 0
	for _, name := range []string{"store.go", "search.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if role, ok := spec.Type.(*ast.InterfaceType); ok {
				roles++
				if n := role.Methods.NumFields(); n > 12 {
					t.Errorf("%s has %d methods and roles, want at most 12", spec.Name, n)
				}
			}
			return true
		})
	}
	if roles < 15 {
		t.Errorf("%d roles found", roles)
	}
}
