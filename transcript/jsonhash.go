package transcript

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/retake-debugger/retake/rawjson"
)

// HashJSON hashes a JSON value of an API by its meaning. White space, the order of
// keys, cache marks, content that is encrypted anew each time, members that are null,
// how a number is written, and camel or snake case of names do not count. A text that
// is not JSON is hashed as it is.
func HashJSON(raw []byte) string { return hashJSON(raw, rawjson.Form{Name: snake, Omit: meansNothing}) }

// HashOther is HashJSON for an item of an unknown kind: its own id and status,
// which the provider mints, do not count.
func HashOther(raw []byte) string { return hashJSON(raw, rawjson.Form{Name: snake, Omit: isMinted}) }

func hashJSON(raw []byte, as rawjson.Form) string {
	c, err := as.Of(raw)
	if err != nil {
		c = raw
	}
	sum := sha256.Sum256(c)
	return hex.EncodeToString(sum[:])
}

func meansNothing(name string, value any, _ map[string]any, _ bool) bool {
	return name == "cache_control" || name == "encrypted_content" || value == nil
}

func isMinted(name string, value any, in map[string]any, top bool) bool {
	if meansNothing(name, value, in, top) {
		return true
	}
	// An item_reference is nothing but an id.
	return top && (name == "status" || name == "id" && in["type"] != "item_reference" && len(in) > 1)
}

// snake returns a name in snake case.
func snake(name string) string {
	if strings.IndexFunc(name, func(r rune) bool { return r >= 'A' && r <= 'Z' }) < 0 {
		return name
	}
	var b strings.Builder
	for i, r := range name {
		if r >= 'A' && r <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}
