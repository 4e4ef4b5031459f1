package segment

import (
	"encoding/binary"
	"errors"

	"github.com/retake-debugger/retake/store/varint"
)

// maxSegments bounds a recipe. PutBody joins small parts before it gets there;
// a longer one is damage.
const maxSegments = 1 << 21

// ErrRecipe means that a recipe cannot be read.
var ErrRecipe = errors.New("a stored recipe is damaged")

// A recipe is written as
//
//	tail { copy runs { gap length }… }…
//
// all varints. tail is how many segments at the end of the base are the end of
// this body too. Each group copies so many segments from the base, then lists
// segments of its own, which stand for as many of the base. They are listed in
// runs of ids that follow each other in their stream; gap is the distance of a
// run's first id from the id that would have followed. A recipe without a base
// is a delta against nothing.

// encodeRecipe writes ids as a delta against base. own is how many ids it had
// to list.
func encodeRecipe(base, ids []ID) (recipe []byte, own int) {
	head := commonPrefix(base, ids)
	tail := commonSuffix(base[head:], ids[head:])
	base, ids = base[:len(base)-tail], ids[:len(ids)-tail]
	recipe = binary.AppendUvarint(make([]byte, 0, 16), uint64(tail))
	next := ID(0)
	for at := 0; at < len(ids); {
		same := at
		for same < len(ids) && same < len(base) && ids[same] == base[same] {
			next = ids[same] + 2
			same++
		}
		end := same
		for end < len(ids) && (end >= len(base) || ids[end] != base[end]) {
			end++
		}
		recipe = binary.AppendUvarint(recipe, uint64(same-at))
		recipe = appendRuns(recipe, ids[same:end], &next)
		own += end - same
		at = end
	}
	return recipe, own
}

func appendRuns(recipe []byte, ids []ID, next *ID) []byte {
	runs := 0
	for i := range ids {
		if i == 0 || ids[i] != ids[i-1]+2 {
			runs++
		}
	}
	recipe = binary.AppendUvarint(recipe, uint64(runs))
	for len(ids) > 0 {
		n := 1
		for n < len(ids) && ids[n] == ids[n-1]+2 {
			n++
		}
		recipe = binary.AppendVarint(recipe, int64(ids[0]-*next))
		recipe = binary.AppendUvarint(recipe, uint64(n))
		*next = ids[n-1] + 2
		ids = ids[n:]
	}
	return recipe
}

// DecodeRecipe is the reverse of encodeRecipe. It trusts nothing.
func DecodeRecipe(base *List, recipe []byte) (*List, error) {
	v := varint.Reader{B: recipe}
	tail := int(v.Uint(uint64(base.len)))
	end := base.len - tail // of what can be copied
	list := &List{chunks: make([][]ID, 0, len(base.chunks)+1)}
	next := ID(0)
	for len(v.B) > 0 {
		if n := int(v.Uint(uint64(max(0, end-list.len)))); n > 0 {
			list.copy(base, list.len, list.len+n)
			next = list.at(list.len-1) + 2
		}
		for range v.Uint(uint64(len(v.B))) {
			id := next + ID(v.Int())
			n := v.Uint(maxSegments)
			if v.Bad || id < 0 || id > 1<<60 || list.len+int(n) > maxSegments {
				return nil, ErrRecipe
			}
			for range n {
				list.add(id)
				id += 2
			}
			next = id
		}
	}
	if v.Bad || list.len+tail > maxSegments {
		return nil, ErrRecipe
	}
	list.copy(base, end, base.len)
	return list, nil
}

func commonPrefix(a, b []ID) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func commonSuffix(a, b []ID) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}
