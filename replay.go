package retake

import (
	"net/http"

	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/replay"
)

// Player returns a player of takes that records what it sends into this database.
func (db *DB) Player() *replay.Player {
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.DisableCompression = true
	o := db.Recording()
	o.Label = "" // a take belongs to the run that it replays
	return &replay.Player{Store: db.Store(), Transport: recorder.NewTransport(base, o), WithID: recorder.WithID, Prices: db.priceTable()}
}
