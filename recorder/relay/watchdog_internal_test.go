package relay

import (
	"testing"
	"time"
)

// A replaced goroutine finds out even if its replacement is inside a region of
// its own by then.
func TestWatch_ReplacedOnceAndForAll(t *testing.T) {
	d := newWatchdog(5 * time.Millisecond)
	replaced := make(chan bool)
	w := &watch{}
	w.takeOver = func() { close(replaced) }
	d.add(w)
	defer d.remove(w)
	first := w.enter(1)
	<-replaced
	w.takeOver = func() { t.Error("replaced twice") }
	second := w.enter(1 << 30)
	if w.leave(first) {
		t.Error("the replaced one may go on")
	}
	if !w.leave(second) {
		t.Error("the replacement may not go on")
	}
	if w.leave(second) {
		t.Error("a region was left twice")
	}
}
