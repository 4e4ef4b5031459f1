package redact

import "testing"

func TestSeen_KeepsTheLastAndNoMoreThanTwiceAsMany(t *testing.T) {
	s := newSeen()
	often := s.hash("often")
	s.add(often)
	for i := range uint64(5 * mostSeen) {
		s.add(i)
		if i%mostSeen == 0 && !s.has(often) {
			t.Fatalf("after %d others, one that was asked for is forgotten", i)
		}
		if n := len(s.now) + len(s.before); n > 2*mostSeen {
			t.Fatalf("%d are kept", n)
		}
	}
	for i := uint64(4*mostSeen + 8); i < 5*mostSeen; i++ {
		_, now := s.now[i]
		_, before := s.before[i]
		if !now && !before {
			t.Fatalf("%d, one of the last, is forgotten", i)
		}
	}
	if s.has(1) {
		t.Error("the first is still known")
	}
}
