package workspace

import (
	"net/http"

	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/replay"
)

// Player plays takes into this workspace, which records what they send.
func (w *Workspace) Player(prices *pricing.Table) *replay.Player {
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.DisableCompression = true
	return &replay.Player{Store: w.Store(), Transport: recorder.NewTransport(base, w.Recording()), WithID: recorder.WithID, Prices: prices}
}
