package transcript

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"

	"github.com/retake-debugger/retake/rawjson"
)

// Key identifies an item by its meaning: items with equal keys are the same,
// however a client wrote them down.
type Key [16]byte

// Node identifies a history: the chain of the keys of its items.
type Node [16]byte

// IsZero reports whether the node is no history at all.
func (n Node) IsZero() bool { return n == Node{} }

// InChain reports whether an item is part of a history's chain. System text, tool
// definitions, reasoning and what the provider ran itself are not: clients may
// change them or leave them out when they send a history again. Nor are further
// choices (n > 1) and messages without content.
func (it *Item) InChain() bool {
	if it.Choice > 0 || it.ServerSide {
		return false
	}
	switch it.Kind {
	case System, ToolDefinition, Reasoning:
		return false
	case MessageItem:
		return it.Text != "" && it.Text[0] > ' ' && it.Text[0] < 0x7f || strings.TrimSpace(it.Text) != "" || len(it.Parts) > 0
	}
	return true
}

// KeyOf hashes what an item means: kind, role, text, other parts, call id, name,
// canonical arguments and the error mark; a compaction by its id, since its content
// is encrypted differently each time; an Other by its JSON.
func KeyOf(it *Item) Key { return keyOf(it, it.CallID) }

// KeyWithoutID is a key without the call id, for clients and gateways that replace
// ids.
func KeyWithoutID(it *Item) Key { return keyOf(it, "") }

func keyOf(it *Item, callID string) Key {
	h := KeyHash{make([]byte, 0, 128+len(it.Text)+len(it.ArgumentsRaw)+72*len(it.Parts))}
	h.Field(string(it.Kind))
	switch {
	case it.Kind == Other:
		h.Field(HashOther(it.Raw))
	case it.Kind == Compaction && it.Text == "":
		h.Field(it.ItemID)
	default:
		if it.Kind == MessageItem {
			h.Field(it.Role)
		}
		h.Field(keyText(it))
		for _, p := range it.Parts {
			h.Field(p)
		}
		h.Field(callID)
		if it.Kind != ToolResult { // some clients add a name to results, most do not
			h.Field(it.Name)
		}
		h.Field(CanonicalArguments(it))
		if it.IsError {
			h.Field("error")
		}
	}
	sum := sha256.Sum256(h.Buf)
	return Key(sum[:16])
}

// keyText is the text of an item as its key counts it. White space at the end of an
// answer does not count: Anthropic refuses it in a last message, so that clients
// remove it.
func keyText(it *Item) string {
	if it.Kind == MessageItem && it.Role == "assistant" {
		return strings.TrimRight(it.Text, " \t\r\n")
	}
	return it.Text
}

// KeyHash collects the fields that a key is the hash of, each after its length.
type KeyHash struct{ Buf []byte }

// Field adds a field.
func (h *KeyHash) Field(s string) {
	h.Buf = binary.LittleEndian.AppendUint64(h.Buf, uint64(len(s)))
	h.Buf = append(h.Buf, s...)
}

// CanonicalArguments returns the arguments of a call in canonical form, "" for other items.
func CanonicalArguments(it *Item) string {
	if it.Kind != ToolCall {
		return ""
	}
	raw := it.ArgumentsRaw
	if len(it.Arguments) > 0 {
		raw = string(it.Arguments)
	}
	if raw == "" {
		return "{}"
	}
	if c, err := rawjson.Canonical([]byte(raw)); err == nil {
		return string(c)
	}
	return raw
}

// KeysWithoutIDs returns the keys without call ids of the items in the chain.
func KeysWithoutIDs(items []Item) []Key {
	var keys []Key
	for i := range items {
		if items[i].InChain() {
			keys = append(keys, KeyWithoutID(&items[i]))
		}
	}
	return keys
}

// Extend returns the node of a history that goes on with key.
func (n Node) Extend(k Key) Node {
	var buf [32]byte
	copy(buf[:16], n[:])
	copy(buf[16:], k[:])
	sum := sha256.Sum256(buf[:])
	return Node(sum[:16])
}

// Keys returns the keys of the items in the chain (InChain).
func Keys(items []Item) []Key {
	var keys []Key
	for i := range items {
		if items[i].InChain() {
			keys = append(keys, KeyOf(&items[i]))
		}
	}
	return keys
}

// Chain returns the nodes of a history that starts at from and goes on with items
// of these keys: one node for each.
func Chain(from Node, keys []Key) []Node {
	nodes := make([]Node, len(keys))
	for i, k := range keys {
		from = from.Extend(k)
		nodes[i] = from
	}
	return nodes
}
