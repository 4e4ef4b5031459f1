package transcript

// CallRow is a tool call of an answer with the results that later requests
// introduced. Both are stored when they arrive, so that joining them reads no run.
type CallRow struct {
	Exchange string // whose answer holds the call
	Key      Key    // of the call's item
	At       string // JSON pointer in the response
	CallID   string
	Name     string
	Results  []ResultRow
}

// ResultRow is a result of a CallRow.
type ResultRow struct {
	Exchange  string // whose request introduced it
	At        string // JSON pointer in the request
	By        string
	LatencyMS *float64 // nil: unknown, since one of the two has no time
	IsError   bool
}

// Hint is what an exchange may be found by: the hash of something in it, and where
// in its answer that is, "" for all of it.
type Hint struct {
	Value Key
	At    string
}
