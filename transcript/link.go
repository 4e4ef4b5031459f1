package transcript

// Link says which exchange this one continues. Parent is empty if none was found,
// and refers to nothing if that exchange was removed.
type Link struct {
	Run      string // id of the run
	Labelled bool   // the exchange came with the label of its run
	Agent    string // id of the agent, "" for a side call
	Step     int    // which step of its agent, from 1; 0 for a side call
	Attempt  int    // which attempt at the step, from 1
	Side     bool   // a call beside the agents: a title, a probe, a token count …
	Parent   string // id of the exchange that this one continues
	By       string // the kind of evidence: one of the By constants, "" for none
	Evidence string // in words, e.g. "12 items of x34's history and output"
	Shared   int    // how many items of the input the parent's history already held
	InLen    int    // chain items in the full history up to and including the input
	OutLen   int    // InLen and the chain items of the output
	InNode   Node   // history up to the input
	OutNode  Node   // history including the output
	// NodeWithoutIDs is OutNode made of keys without call ids.
	NodeWithoutIDs Node
	Settings       Settings // system prompt and tools
	Change         Change   // how it differs from the exchange that it continues
	Replay         bool     // a take sent it; only set by Reader.Summaries
	AsOf           int64    // number of the latest exchange known when the link was made; 0 for the exchange itself
}

// The kinds of evidence, strongest first. The first three link to a history
// that only the provider holds: the request leaves it out.
const (
	ByResponse       = "previous_response_id" // the request names the answer that it continues
	ByConversation   = "conversation"         // it names a conversation
	ByReference      = "item_reference"       // it names an item of the answer
	ByUser           = "user"                 // a user said so (Override)
	ByTake           = "take"                 // a take sent it, and knows where it left the original
	ByRetrieve       = "retrieve"             // it asks again for an answer: a poll, a resumed stream
	ByHistory        = "history"              // its input begins with the parent's history and output
	ByChoice         = "choice"               // the same, with another choice than the first
	ByKeysWithoutIDs = "ids"                  // the same except for call ids
	ByCall           = "call"                 // it repeats a call of the parent, though the history before differs
	ByText           = "text"                 // it repeats the final text of the parent, though the history before differs
	ByCompaction     = "compaction"           // its history was replaced by a summary that the parent made
	ByHandoff        = "handoff"              // its first message holds the parent's final text; the agent is another
	ByAttempt        = "attempt"              // it repeats a request that failed
	BySession        = "session"              // the client names the session or agent
	ByPrompt         = "prompt"               // its first message is the prompt in a call
	ByTime           = "time"                 // a side call, and its client had only this run under way
	ByLabel          = "label"                // recorder run's label
)

// ServerHeld reports whether the link is to a history that the provider holds and the
// request leaves out.
func (l *Link) ServerHeld() bool {
	return l.Parent != "" && (l.By == ByResponse || l.By == ByConversation || l.By == ByReference)
}
