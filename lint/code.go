package lint

// A Code names and explains a kind of finding.
type Code struct {
	Name     string   `json:"code"`
	Severity Severity `json:"severity"` // the worst it occurs with
	Means    string   `json:"means"`
	Example  string   `json:"example"`
}

// Codes returns all codes, grouped by subject.
func Codes() []Code {
	var all []Code
	for _, group := range [][]Code{pairingCodes(), argumentCodes(), requestCodes(), resultCodes(), reasoningCodes(), answerCodes(), runCodes()} {
		all = append(all, group...)
	}
	return all
}

func pairingCodes() []Code {
	return []Code{
		{"missing_tool_result", Error,
			"A call in the history has no result: providers refuse the request.",
			`assistant calls call_B, then comes a user message, and no tool message has tool_call_id "call_B"`},
		{"missing_adjacent_tool_result", Error,
			"A call has its result, but too late: chat and messages want it directly after the calls.",
			`tool_use toolu_2 in messages.1, its tool_result in messages.4`},
		{"tool_result_without_preceding_tool_use", Error,
			"The late result: its call is not in the message before it.",
			`tool_result toolu_2 in messages.4, while messages.3 holds no tool_use toolu_2`},
		{"orphan_tool_result", Error,
			"A result answers a call that the history does not hold.",
			`a tool message with tool_call_id "call_ZZZ" that no call has`},
		{"result_before_call", Error,
			"A result comes before the call that it answers.",
			`function_call_output call_1, followed by function_call call_1`},
		{"result_without_call_id", Error,
			"A result does not say which call it answers.",
			`{"role":"tool","content":"42"}`},
		{"duplicate_tool_result", Error,
			"A call has a second result: chat and messages refuse that.",
			`two tool messages with tool_call_id "call_1" after one call`},
		{"duplicate_tool_call_id", Error,
			"Two calls of one batch have the same id, so that their results cannot be told apart.",
			`tool_calls with id "call_0" twice in one assistant message`},
		{"reused_tool_call_id", Error,
			"A later call has the id of an earlier one. Messages wants ids to be unique; elsewhere it is a warning: programs that look up results by id alone find the wrong one.",
			`terminal:0 in each of three answers`},
		{"invalid_tool_call_id", Error,
			"An id has characters that messages does not accept (letters, digits, _ and - only), or is too long.",
			`"functions.weather:0" of another provider in a tool_use block`},
		{"results_out_of_order", Info,
			"The results of a batch come in another order than its calls. Every provider joins them by id; programs that join by position do not.",
			`calls A, B, C and results C, A, B`},
		{"parallel_results_split", Warning,
			"The results of one batch are in several user messages: that teaches the model to stop calling in parallel.",
			`two tool_use in one message, then two user messages with one tool_result each`},
		{"parallel_batch_split", Warning,
			"The calls of one answer were sent back as several answers, or with text between them: some providers treat the first ones as unanswered.",
			`function_call A, an assistant message, function_call B, then both outputs`},
		{"incomplete_parallel_batch", Warning,
			"Only some calls of an answer were sent back.",
			`the answer calls A and B, the next request holds A with its result and no B`},
	}
}

func argumentCodes() []Code {
	return []Code{
		{"invalid_json_arguments", Error,
			"Arguments are not JSON. The message says truncated only if the output was cut by its limit.",
			`"arguments":"{\"action\": listt_windows\"}"`},
		{"empty_arguments", Info,
			"Arguments are an empty string, which means {}: some parsers fail on it.",
			`"arguments":""`},
		{"arguments_not_object", Error,
			"Arguments are JSON, but not an object. Messages refuses that; elsewhere it is a warning.",
			`"arguments":"[1,2]"`},
		{"arguments_not_string", Error,
			"Chat and responses want the arguments of a call as a string that holds JSON.",
			`"function":{"name":"ls","arguments":{"path":"."}}`},
		{"arguments_schema_mismatch", Warning,
			"Arguments do not fit the tool's JSON Schema.",
			`{"city":3} where city is declared as a string`},
		{"undeclared_tool", Warning,
			"The model called a tool that the request does not declare.",
			`a call of "python" where only "shell" is declared`},
	}
}

func requestCodes() []Code {
	return []Code{
		{"wrong_tool_shape", Error,
			"A tool is declared in the shape of another API.",
			`{"name":"ls","input_schema":{…}} in a chat request`},
		{"wrong_tool_choice", Error,
			"tool_choice has the shape of another API, names a tool that is not declared, or is set without tools.",
			`"tool_choice":"auto" in a messages request, which wants {"type":"auto"}`},
		{"wrong_request_member", Error,
			"The conversation is under a name that the API does not read.",
			`"messages" sent to responses, "input" sent to chat`},
		{"invalid_message", Error,
			"An element of the conversation is not a message.",
			`"messages":["hello"]`},
		{"empty_text", Error,
			"Messages refuses empty text blocks. White space alone is a warning: it is sometimes accepted.",
			`{"type":"text","text":""}`},
		{"unsupported_content", Error,
			"A part of a message is of a kind that the model or the API does not accept.",
			`input_audio for a model that does not hear; an mp3 as input_file`},
		{"missing_max_tokens", Error,
			"Messages wants max_tokens in every request.",
			`{"model":"claude-x","messages":[…]}`},
	}
}

func resultCodes() []Code {
	return []Code{
		{"tool_content_not_string", Error,
			"The content of a result is neither a string nor a list of parts that the API accepts.",
			`{"role":"tool","tool_call_id":"call_1","content":{"temp":3}}`},
		{"base64_in_result", Warning,
			"A result holds base64 as text. The model cannot read it, and it is sent again at each later step.",
			`a screenshot returned as a data URL in the text`},
		{"large_result", Warning,
			"A result is very large, and is sent again at each later step.",
			`200 KB of a log file`},
		{"error_told_as_success", Warning,
			"A result reports an error, but is not marked as one or claims success.",
			`{"type":"tool_result","tool_use_id":"toolu_1","content":"Error: no such file"} without is_error`},
		{"result_shape_changes", Info,
			"A tool's failures have another shape than its results: code that parses the results fails on them.",
			`{"temp":3} when it works, "timeout" when it does not`},
		{"repeated_call", Warning,
			"The same call was repeated with the same result: the model is making no progress.",
			`ls {"path":"src"} three times with the same output`},
		{"tool_always_fails", Warning,
			"A tool was called three times or more and never worked.",
			`search fails 4 times of 4`},
	}
}

func reasoningCodes() []Code {
	return []Code{
		{"reasoning_item_missing", Error,
			"An item was sent back with its id but without the reasoning item that came before it.",
			`function_call fc_1 in the input, whose answer began with reasoning rs_1`},
		{"reasoning_without_following_item", Error,
			"A reasoning item was sent back without the item that followed it.",
			`reasoning rs_1 followed by a user message`},
		{"thinking_signature_lost", Error,
			"A thinking block has no signature: messages refuses it.",
			`{"type":"thinking","thinking":"…"}`},
		{"thinking_signature_changed", Error,
			"A thinking block was sent back with another text or signature.",
			`the client trims the thinking text`},
		{"thinking_dropped", Error,
			"Thinking is on, and an answer with tool calls was sent back without its thinking blocks. A warning where thinking is adaptive.",
			`the answer is [thinking, tool_use], the next request holds [tool_use]`},
	}
}

func answerCodes() []Code {
	return []Code{
		{"output_truncated", Error,
			"The output was cut by its limit. An error if that cut a call, else a warning.",
			`finish_reason "length"; or completion_tokens 300 of max_tokens 300 and broken arguments`},
		{"answer_cut_off", Error,
			"The answer ended early. An error if it held a call, else a warning.",
			`a stream without [DONE] or message_stop`},
		{"stream_index_collision", Warning,
			"Tool calls of a stream claim the index of another call: clients that go by the index merge them.",
			`three calls, all with index 0`},
		{"non_json_sse_data", Info,
			"Events of the stream hold data that are not JSON: strict clients fail on them.",
			`data: : keepalive`},
	}
}

func runCodes() []Code {
	return []Code{
		{"system_prompt_changed", Warning,
			"The system prompt differs from the step before: the prompt cache starts over.",
			`a clock in the system prompt`},
		{"tools_changed", Warning,
			"The declared tools differ from the step before: the prompt cache starts over.",
			`a tool is added at step 7`},
		{"history_edited", Warning,
			"Earlier messages were changed when they were sent back.",
			`a gateway rewrites an old tool result`},
		{"history_dropped", Warning,
			"Part of the history was left out.",
			`the client keeps only the last 20 messages`},
	}
}
