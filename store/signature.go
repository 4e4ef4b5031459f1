package store

import (
	"math/bits"
	"strings"
	"unicode/utf8"

	"github.com/retake-debugger/retake/transcript"
)

// A signature is a filter of what is in the folded text of an item: each stretch
// of four bytes and of six sets the bit that its hash says, and each word two.
// Terms tell what characters are near each other somewhere; a signature tells
// better what items are worth reading, and costs less than to index longer terms.
// Four bytes are for short queries; most items that hold all fours of a longer one
// do not hold all of its sixes. Items without flagMore have signatures of fours
// alone.
const (
	stretch     = 4
	longStretch = 6
	// signatureBits is how many there are for four bytes of text; half are set
	// then.
	signatureBits = 9
)

// signatureOf makes the signature of a folded text.
func signatureOf(text string) []byte {
	if text == "" {
		return nil
	}
	s := make([]byte, 1+len(text)*signatureBits/stretch/8)
	bits := uint64(len(s) * 8)
	set := func(hash uint64) {
		bit := hash % bits
		s[bit/8] |= 1 << (bit % 8)
	}
	for i := range max(0, len(text)-stretch+1) {
		set(stretchHash(text[i:]))
	}
	for i := range max(0, len(text)-longStretch+1) {
		set(longHash(text[i:]))
	}
	for word := range strings.FieldsFuncSeq(text, notOfWord) {
		one, other := wordHashes(word)
		set(one)
		set(other)
	}
	return s
}

func notOfWord(r rune) bool { return !transcript.IsWordRune(r) }

// These hashes are part of the file.

func stretchHash(s string) uint64 {
	return mix(uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24)
}

func longHash(s string) uint64 {
	return mix(uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40)
}

func wordHashes(word string) (one, other uint64) {
	sum := uint64(14695981039346656037) // FNV-1a
	for i := range len(word) {
		sum = (sum ^ uint64(word[i])) * 1099511628211
	}
	one = mix(sum)
	return one, mix(bits.RotateLeft64(one, 32) + 1)
}

func mix(v uint64) uint64 {
	v *= 0x9e3779b97f4a7c15
	return v ^ v>>32
}

// traces are the hashes of what must be in an item's text.
type traces struct {
	fours []uint64
	more  []uint64 // which signatures without flagMore do not tell of
}

// tracesOf gives the traces of what is looked for.
func tracesOf(q *transcript.SearchQuery) traces {
	var t traces
	words := q.WordList()
	texts := words
	if len(words) == 0 {
		texts = []string{firstRunes(transcript.Fold(q.Text), longestText)}
		words = innerWords(texts[0])
	}
	for _, text := range texts {
		text = firstRunes(text, longestText)
		for i := range max(0, len(text)-stretch+1) {
			t.fours = append(t.fours, stretchHash(text[i:]))
		}
		for i := range max(0, len(text)-longStretch+1) {
			t.more = append(t.more, longHash(text[i:]))
		}
	}
	for _, word := range words {
		if utf8.RuneCountInString(word) <= longestText { // a longer one may be cut where a text ends
			one, other := wordHashes(word)
			t.more = append(t.more, one, other)
		}
	}
	return t
}

// mayHold tells whether a text of that signature may hold all of these.
func mayHold(signature []byte, hashes []uint64) bool {
	bits := uint64(len(signature) * 8)
	if bits == 0 {
		return len(hashes) == 0
	}
	for _, h := range hashes {
		if bit := h % bits; signature[bit/8]&(1<<(bit%8)) == 0 {
			return false
		}
	}
	return true
}
