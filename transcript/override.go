package transcript

import "time"

// Override is what a user says about the exchange that another one continues. It
// outranks everything that is inferred, and deriving again keeps to it. The last
// Override of an exchange counts.
type Override struct {
	Exchange string // id of the exchange that it is about
	Verb     Verb
	To       string // of LinkTo: id of the exchange that it continues, or of the run that it belongs to
	At       time.Time
}

// Verb is what an Override says.
type Verb string

// The verbs of overrides.
const (
	// LinkTo says that the exchange continues another one, or begins an agent of
	// its own in a run.
	LinkTo Verb = "link"
	// Unlink says that the exchange continues nothing: a run begins with it.
	Unlink Verb = "unlink"
)
