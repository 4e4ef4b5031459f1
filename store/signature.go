package store

import "github.com/retake-debugger/retake/transcript"

// A signature is a filter of the stretches of so many bytes that are in the
// folded text of an item: each sets the bit that its hash says. Terms tell what
// characters are near each other somewhere; a signature tells better what items
// are worth reading, and costs less than to index longer terms.
const (
	stretch = 4
	// signatureBits is how many there are for a byte of text; four in ten are set
	// then.
	signatureBits = 2
)

// signatureOf makes the signature of a folded text.
func signatureOf(text string) []byte {
	if len(text) < stretch {
		return nil
	}
	s := make([]byte, 1+len(text)*signatureBits/8)
	bits := uint64(len(s) * 8)
	for i := range len(text) - stretch + 1 {
		bit := stretchHash(text[i:]) % bits
		s[bit/8] |= 1 << (bit % 8)
	}
	return s
}

// stretchHash is part of the file.
func stretchHash(s string) uint64 {
	v := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24
	v *= 0x9e3779b97f4a7c15
	return v ^ v>>32
}

// stretchesOf gives the hashes of what must be in an item's text.
func stretchesOf(q *transcript.SearchQuery) []uint64 {
	texts := q.WordList()
	if len(texts) == 0 {
		texts = []string{transcript.Fold(q.Text)}
	}
	var list []uint64
	for _, text := range texts {
		text = firstRunes(text, longestText)
		for i := range max(0, len(text)-stretch+1) {
			list = append(list, stretchHash(text[i:]))
		}
	}
	return list
}

// mayHold tells whether a text of that signature may hold all these stretches.
func mayHold(signature []byte, stretches []uint64) bool {
	bits := uint64(len(signature) * 8)
	if bits == 0 {
		return len(stretches) == 0
	}
	for _, h := range stretches {
		if bit := h % bits; signature[bit/8]&(1<<(bit%8)) == 0 {
			return false
		}
	}
	return true
}
