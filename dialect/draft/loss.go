package draft

// Loss is one thing of a request that Convert did not carry into the other
// dialect, or did not carry as it was.
type Loss struct {
	Code   LossCode `json:"code"`
	At     string   `json:"at"`                // JSON pointer into the request that was converted; "" for what had to be added
	ItemID string   `json:"item_id,omitempty"` // the id that the provider gave the item
	From   string   `json:"from,omitempty"`    // what it was, where something else is there now
	To     string   `json:"to,omitempty"`
	Why    string   `json:"why"`
}

// LossCode says what kind of loss it is.
type LossCode string

// The codes of a Loss.
const (
	ReasoningDropped   LossCode = "reasoning_dropped" // only the model and the account that made it can read it
	CallIDRewritten    LossCode = "call_id_rewritten" // on both sides of the pair
	ToolNameRewritten  LossCode = "tool_name_rewritten"
	ArgumentsRewritten LossCode = "arguments_rewritten" // they were no JSON object
	CallRewritten      LossCode = "call_rewritten"      // a call of a built-in or free-text tool is one of a function
	ToolRewritten      LossCode = "tool_rewritten"
	ToolDropped        LossCode = "tool_dropped"        // a built-in tool
	ServerCallDropped  LossCode = "server_call_dropped" // a call that the provider ran, or its result
	ItemDropped        LossCode = "item_dropped"
	PartDropped        LossCode = "part_dropped"   // an image, a file, sound
	PartRewritten      LossCode = "part_rewritten" // as text
	TextDropped        LossCode = "text_dropped"   // empty text, which Messages refuses
	MemberDropped      LossCode = "member_dropped" // of a message, a part, a tool
	CacheMarkDropped   LossCode = "cache_mark_dropped"
	ErrorMarkDropped   LossCode = "error_mark_dropped"
	MessagesMerged     LossCode = "messages_merged" // with the one before it
	MessageMoved       LossCode = "message_moved"
	RoleChanged        LossCode = "role_changed"
	ParameterDropped   LossCode = "parameter_dropped"
	ParameterChanged   LossCode = "parameter_changed"
	ParameterAdded     LossCode = "parameter_added" // the dialect demands it
	HistoryMissing     LossCode = "history_missing" // the provider holds it
)
