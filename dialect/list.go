package dialect

import "github.com/retake-debugger/retake/transcript"

// List holds the APIs that are known. Nothing else has to be changed for a new one.
var List = []*API{&chatAPI, &responsesAPI, &messagesAPI}

// of returns the descriptor of a dialect, nil for transcript.Unknown and any other
// name that is not in the list.
func of(d transcript.Dialect) *API {
	for _, a := range List {
		if a.Name == d {
			return a
		}
	}
	return nil
}
