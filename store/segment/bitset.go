package segment

// Bitset is a set of small numbers.
type Bitset []uint64

// Has reports whether n is in the set.
func (b Bitset) Has(n int64) bool {
	return n >= 0 && n>>6 < int64(len(b)) && b[n>>6]&(1<<(n&63)) != 0
}

// Add returns false if n was there already.
func (b *Bitset) Add(n int64) bool {
	if b.Has(n) || n < 0 {
		return false
	}
	if word := int(n >> 6); word >= len(*b) {
		*b = append(*b, make(Bitset, word+1-len(*b)+len(*b)/4)...)
	}
	(*b)[n>>6] |= 1 << (n & 63)
	return true
}
