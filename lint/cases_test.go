package lint_test

import (
	"fmt"
	"strings"

	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/transcript"
)

// Small ways to write requests and answers.

func chat(messages string, more ...string) exchange {
	return exchange{request: `{"model":"m","messages":[` + messages + `]` + strings.Join(append([]string{""}, more...), ",") + `}`}
}

func responses(input string, more ...string) exchange {
	return exchange{request: `{"model":"m","input":[` + input + `]` + strings.Join(append([]string{""}, more...), ",") + `}`}
}

func messages(list string, more ...string) exchange {
	return exchange{request: `{"model":"m","max_tokens":100,"messages":[` + list + `]` + strings.Join(append([]string{""}, more...), ",") + `}`}
}

func (x exchange) answers(response string) exchange { x.response = response; return x }

const (
	hi      = `{"role":"user","content":"hi"}`
	goOn    = `{"role":"user","content":"go on"}`
	said    = `{"role":"assistant","content":"well"}`
	userR   = `{"type":"message","role":"user","content":"hi"}`
	lsChat  = `"tools":[{"type":"function","function":{"name":"ls","parameters":{"type":"object","properties":{"p":{"type":"string"}}}}}]`
	lsResp  = `"tools":[{"type":"function","name":"ls","parameters":{"type":"object","properties":{"p":{"type":"string"}}}}]`
	lsMess  = `"tools":[{"name":"ls","input_schema":{"type":"object","properties":{"p":{"type":"string"}}}}]`
	stopped = `{"object":"chat.completion","id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"done"},"finish_reason":"stop"}]}`
)

func toolCall(id, name, args string) string {
	return fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q,"arguments":%q}}`, id, name, args)
}

func calling(calls ...string) string {
	return `{"role":"assistant","content":null,"tool_calls":[` + strings.Join(calls, ",") + `]}`
}

func ls(id string) string { return toolCall(id, "ls", `{"p":"`+id+`"}`) }

func tool(id, content string) string {
	return fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":%q}`, id, content)
}

func completion(message, finish string) string {
	return `{"object":"chat.completion","id":"c","model":"m","choices":[{"index":0,"message":` + message + `,"finish_reason":"` + finish + `"}],"usage":{"prompt_tokens":9,"completion_tokens":300,"total_tokens":309}}`
}

func use(ids ...string) string {
	var blocks []string
	for _, id := range ids {
		blocks = append(blocks, fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"ls","input":{"p":%q}}`, id, id))
	}
	return `{"role":"assistant","content":[` + strings.Join(blocks, ",") + `]}`
}

func block(id, content string) string {
	return fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q,"content":%q}`, id, content)
}

func user(blocks ...string) string {
	return `{"role":"user","content":[` + strings.Join(blocks, ",") + `]}`
}

func function(id string) string {
	return fmt.Sprintf(`{"type":"function_call","call_id":%q,"name":"ls","arguments":"{\"p\":\"%s\"}"}`, id, id)
}

func output(id, text string) string {
	return fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":%q}`, id, text)
}

func joined(parts ...string) string { return strings.Join(parts, ",") }

func one(x exchange) []exchange { return []exchange{x} }

func message(content, stop string) string {
	return `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[` + content + `],"stop_reason":"` + stop + `"}`
}

func response(output string) string {
	return `{"id":"resp_1","object":"response","status":"completed","model":"m","output":[` + output + `]}`
}

func codeCases() []codeCase {
	return append(append(append(pairingCases(), argumentCases()...), requestCases()...), append(append(resultCases(), reasoningCases()...), append(answerCases(), runCases()...)...)...)
}

func pairingCases() []codeCase {
	chatOK := one(chat(joined(hi, calling(ls("a"), ls("b")), tool("a", "1"), tool("b", "2"))))
	messagesOK := one(messages(joined(hi, use("a", "b"), user(block("a", "1"), block("b", "2")))))
	responsesOK := one(responses(joined(userR, function("a"), function("b"), output("a", "1"), output("b", "2"))))
	return []codeCase{
		{"missing_tool_result", lint.Error, "/messages/1/tool_calls/1", transcript.Chat,
			one(chat(joined(hi, calling(ls("a"), ls("b")), tool("a", "1"), goOn))), chatOK},
		{"missing_tool_result", lint.Error, "/messages/1/content/0", transcript.Messages,
			one(messages(joined(hi, use("a"), goOn))), messagesOK},
		{"missing_tool_result", lint.Error, "/input/1", transcript.Responses,
			one(responses(joined(userR, function("a"), userR))), responsesOK},
		{"missing_adjacent_tool_result", lint.Error, "/messages/1/content/1", transcript.Messages,
			one(messages(joined(hi, use("a", "b"), user(block("a", "1")), said, user(block("b", "2"))))), messagesOK},
		{"missing_adjacent_tool_result", lint.Error, "/messages/1/tool_calls/0", transcript.Chat,
			one(chat(joined(hi, calling(ls("a")), goOn, tool("a", "1")))), chatOK},
		{"tool_result_without_preceding_tool_use", lint.Error, "/messages/4/content/0", transcript.Messages,
			one(messages(joined(hi, use("a", "b"), user(block("a", "1")), said, user(block("b", "2"))))), messagesOK},
		{"orphan_tool_result", lint.Error, "/messages/3", transcript.Chat,
			one(chat(joined(hi, calling(ls("a")), tool("a", "1"), tool("zzz", "2")))), chatOK},
		{"orphan_tool_result", lint.Error, "/input/1", transcript.Responses,
			one(responses(joined(userR, output("a", "1")))),
			one(responses(output("a", "1"), `"previous_response_id":"resp_0"`))},
		{"result_before_call", lint.Error, "/input/1", transcript.Responses,
			one(responses(joined(userR, output("a", "1"), function("a")))), responsesOK},
		{"result_without_call_id", lint.Error, "/messages/2", transcript.Chat,
			one(chat(joined(hi, calling(ls("a")), `{"role":"tool","content":"1"}`))),
			one(chat(joined(hi, `{"role":"assistant","content":null,"function_call":{"name":"ls","arguments":"{}"}}`, `{"role":"function","name":"ls","content":"1"}`)))},
		{"duplicate_tool_result", lint.Error, "/messages/3", transcript.Chat,
			one(chat(joined(hi, calling(ls("a")), tool("a", "1"), tool("a", "1")))),
			one(chat(joined(hi, calling(ls("a")), tool("a", "1"), calling(ls("a")), tool("a", "1"))))},
		{"duplicate_tool_call_id", lint.Error, "/messages/1/tool_calls/1", transcript.Chat,
			one(chat(joined(hi, calling(ls("a"), ls("a")), tool("a", "1"), tool("a", "2")))),
			one(chat(joined(hi, calling(ls("a")), tool("a", "1"), calling(ls("a")), tool("a", "1"))))},
		{"reused_tool_call_id", lint.Warning, "/messages/3/tool_calls/0", transcript.Chat,
			one(chat(joined(hi, calling(ls("a")), tool("a", "1"), calling(ls("a")), tool("a", "1")))), chatOK},
		{"reused_tool_call_id", lint.Error, "/messages/3/content/0", transcript.Messages,
			one(messages(joined(hi, use("a"), user(block("a", "1")), use("a"), user(block("a", "1"))))), messagesOK},
		{"invalid_tool_call_id", lint.Error, "/messages/1/content/0", transcript.Messages,
			one(messages(joined(hi, use("functions.ls:0"), user(block("functions.ls:0", "1"))))),
			one(chat(joined(hi, calling(ls("functions.ls:0")), tool("functions.ls:0", "1"))))},
		{"results_out_of_order", lint.Info, "/messages/3", transcript.Chat,
			one(chat(joined(hi, calling(ls("a"), ls("b")), tool("b", "2"), tool("a", "1")))), chatOK},
		{"parallel_results_split", lint.Warning, "/messages/3/content/0", transcript.Messages,
			one(messages(joined(hi, use("a", "b"), user(block("a", "1")), user(block("b", "2"))))), messagesOK},
		{"parallel_batch_split", lint.Warning, "/input/3", transcript.Responses,
			one(responses(joined(userR, function("a"), `{"role":"assistant","content":"next"}`, function("b"), output("a", "1"), output("b", "2")))),
			one(responses(joined(userR, `{"role":"assistant","content":"next"}`, function("a"), function("b"), output("a", "1"), output("b", "2"))))},
		{"parallel_batch_split", lint.Warning, "/messages/3/tool_calls/0", transcript.Chat,
			[]exchange{chat(hi).answers(completion(calling(ls("a"), ls("b")), "tool_calls")),
				chat(joined(hi, calling(ls("a")), tool("a", "1"), calling(ls("b")), tool("b", "2")))},
			[]exchange{chat(hi).answers(completion(calling(ls("a"), ls("b")), "tool_calls")),
				chat(joined(hi, calling(ls("a"), ls("b")), tool("a", "1"), tool("b", "2")))}},
		{"incomplete_parallel_batch", lint.Warning, "/messages/1/tool_calls/0", transcript.Chat,
			[]exchange{chat(hi).answers(completion(calling(ls("a"), ls("b")), "tool_calls")),
				chat(joined(hi, calling(ls("a")), tool("a", "1")))},
			[]exchange{chat(hi).answers(completion(calling(ls("a"), ls("b")), "tool_calls")),
				chat(joined(hi, calling(ls("a"), ls("b")), tool("a", "1"), tool("b", "2")))}},
	}
}

func argumentCases() []codeCase {
	called := func(args string) []exchange {
		return one(chat(hi, lsChat).answers(completion(calling(toolCall("a", "ls", args)), "tool_calls")))
	}
	const at = "/choices/0/message/tool_calls/0/function/arguments"
	return []codeCase{
		{"invalid_json_arguments", lint.Error, at, transcript.Chat, called(`{"p": listt"}`), called(`{"p": "list"}`)},
		{"invalid_json_arguments", lint.Error, "/messages/1/tool_calls/0/function/arguments", transcript.Chat,
			one(chat(joined(hi, calling(toolCall("a", "ls", `{"p`)), tool("a", "bad")))),
			one(chat(joined(hi, calling(`{"id":"a","type":"custom","custom":{"name":"py","input":"{\"p"}}`), tool("a", "fine"))))},
		{"empty_arguments", lint.Info, at, transcript.Chat, called(``), called(`{}`)},
		{"arguments_not_object", lint.Warning, at, transcript.Chat, called(`[1]`), called(`{"p":"1"}`)},
		{"arguments_not_object", lint.Error, "/messages/1/content/0/input", transcript.Messages,
			one(messages(joined(hi, `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"ls","input":"{}"}]}`, user(block("a", "1"))))),
			one(messages(joined(hi, `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"ls","input":{}}]}`, user(block("a", "1")))))},
		{"arguments_not_string", lint.Error, "/messages/1/tool_calls/0/function/arguments", transcript.Chat,
			one(chat(joined(hi, calling(`{"id":"a","type":"function","function":{"name":"ls","arguments":{"p":"."}}}`), tool("a", "1")))),
			one(chat(joined(hi, calling(ls("a")), tool("a", "1"))))},
		{"arguments_schema_mismatch", lint.Warning, at, transcript.Chat, called(`{"p":3}`), called(`{"p":"3","more":1}`)},
		{"undeclared_tool", lint.Warning, "/choices/0/message/tool_calls/0", transcript.Chat,
			one(chat(hi, lsChat).answers(completion(calling(toolCall("a", "rm", `{}`)), "tool_calls"))), called(`{}`)},
		{"undeclared_tool", lint.Warning, "/output/0", transcript.Responses,
			one(responses(userR, lsResp).answers(response(`{"type":"function_call","call_id":"a","name":"rm","arguments":"{}"}`))),
			one(responses(userR, `"tools":[{"type":"namespace","name":"fs","tools":[{"type":"function","name":"rm","parameters":{}}]}]`).answers(response(`{"type":"function_call","call_id":"a","name":"rm","namespace":"fs","arguments":"{}"}`)))},
	}
}

func requestCases() []codeCase {
	return []codeCase{
		{"wrong_tool_shape", lint.Error, "/tools/0", transcript.Chat, one(chat(hi, lsResp)), one(chat(hi, lsChat))},
		{"wrong_tool_shape", lint.Error, "/tools/0", transcript.Responses, one(responses(userR, lsChat)), one(responses(userR, lsResp))},
		{"wrong_tool_shape", lint.Error, "/tools/0", transcript.Messages, one(messages(hi, lsChat)), one(messages(hi, lsMess))},
		{"wrong_tool_choice", lint.Error, "/tool_choice", transcript.Messages,
			one(messages(hi, lsMess, `"tool_choice":"auto"`)), one(messages(hi, lsMess, `"tool_choice":{"type":"tool","name":"ls"}`))},
		{"wrong_tool_choice", lint.Error, "/tool_choice", transcript.Chat,
			one(chat(hi, lsChat, `"tool_choice":{"type":"function","function":{"name":"rm"}}`)),
			one(chat(hi, lsChat, `"tool_choice":{"type":"function","function":{"name":"ls"}}`))},
		{"wrong_tool_choice", lint.Error, "/tool_choice", transcript.Responses,
			one(responses(userR, lsResp, `"tool_choice":{"type":"function","function":{"name":"ls"}}`)),
			one(responses(userR, lsResp, `"tool_choice":{"type":"function","name":"ls"}`))},
		{"wrong_request_member", lint.Error, "/messages", transcript.Responses,
			one(exchange{request: `{"model":"m","messages":[` + hi + `]}`}), one(responses(userR))},
		{"wrong_request_member", lint.Error, "/input", transcript.Chat,
			one(exchange{request: `{"model":"m","input":"hi"}`}), one(chat(hi))},
		{"invalid_message", lint.Error, "/messages/0", transcript.Messages, one(messages(`"hi"`)), one(messages(hi))},
		{"empty_text", lint.Error, "/messages/0/content/0", transcript.Messages,
			one(messages(`{"role":"user","content":[{"type":"text","text":""}]}`)),
			one(messages(`{"role":"user","content":[{"type":"text","text":"."}]}`))},
		{"unsupported_content", lint.Error, "/messages/0/content/0", transcript.Chat,
			one(exchange{request: `{"model":"gpt-5-mini","messages":[{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"AA==","format":"mp3"}}]}]}`}),
			one(exchange{request: `{"model":"gpt-4o-audio-preview","messages":[{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"AA==","format":"mp3"}}]}]}`})},
		{"unsupported_content", lint.Error, "/input/0/content/0", transcript.Responses,
			one(responses(`{"role":"user","content":[{"type":"input_file","file_data":"data:audio/mpeg;base64,AA==","filename":"a.mp3"}]}`)),
			one(responses(`{"role":"user","content":[{"type":"input_file","file_data":"data:application/pdf;base64,AA==","filename":"a.pdf"}]}`))},
		{"missing_max_tokens", lint.Error, "", transcript.Messages,
			one(exchange{request: `{"model":"m","messages":[` + hi + `]}`}), one(messages(hi))},
	}
}

func resultCases() []codeCase {
	returned := func(text string) []exchange {
		return one(chat(joined(hi, calling(ls("a")), tool("a", text))))
	}
	data := strings.Repeat("iVBORw0KGgo5AAAANSUhEUgAA", 60)
	again := func(results ...string) []exchange {
		parts := []string{hi}
		for i, text := range results {
			id := fmt.Sprintf("c%d", i)
			parts = append(parts, calling(toolCall(id, "ls", `{"p":"src"}`)), tool(id, text))
		}
		return one(chat(joined(parts...)))
	}
	return []codeCase{
		{"tool_content_not_string", lint.Error, "/messages/2/content", transcript.Chat,
			one(chat(joined(hi, calling(ls("a")), `{"role":"tool","tool_call_id":"a","content":{"t":3}}`))),
			one(chat(joined(hi, calling(ls("a")), `{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"3"}]}`)))},
		{"tool_content_not_string", lint.Error, "/input/2/output", transcript.Responses,
			one(responses(joined(userR, function("a"), `{"type":"function_call_output","call_id":"a","output":{"t":3}}`))),
			one(responses(joined(userR, function("a"), output("a", "3"))))},
		{"tool_content_not_string", lint.Error, "/messages/2/content/0/content/0", transcript.Messages,
			one(messages(joined(hi, use("a"), user(`{"type":"tool_result","tool_use_id":"a","content":[{"type":"image_url"}]}`)))),
			one(messages(joined(hi, use("a"), user(`{"type":"tool_result","tool_use_id":"a"}`))))},
		{"base64_in_result", lint.Warning, "/messages/2", transcript.Chat, returned(data), returned(strings.Repeat("words and 7 Words, ", 100))},
		{"large_result", lint.Warning, "/messages/2", transcript.Chat, returned(strings.Repeat("a line of a log\n", 2100)), returned(strings.Repeat("a line of a log\n", 100))},
		{"error_told_as_success", lint.Warning, "/messages/2/content/0", transcript.Messages,
			one(messages(joined(hi, use("a"), user(block("a", "Error: no such file"))))),
			one(messages(joined(hi, use("a"), user(`{"type":"tool_result","tool_use_id":"a","is_error":true,"content":"Error: no such file"}`))))},
		{"error_told_as_success", lint.Warning, "/messages/2", transcript.Chat,
			returned(`{"success":true,"error":"no such file"}`), returned(`{"success":true,"error":null}`)},
		{"result_shape_changes", lint.Info, "/messages/4", transcript.Chat, again(`{"t":3}`, "Error: timeout"), again(`{"t":3}`, `{"error":"timeout"}`)},
		{"repeated_call", lint.Warning, "/messages/5/tool_calls/0", transcript.Chat, again("a", "a", "a"), again("running", "running", "done")},
		{"tool_always_fails", lint.Warning, "/messages/5/tool_calls/0", transcript.Chat,
			again("Error: a", "Error: b", "Error: c", "Error: d"), again("Error: a", "Error: b", "Error: c", "fine")},
	}
}

func reasoningCases() []codeCase {
	const rs, fc = `{"id":"rs_1","type":"reasoning","summary":[]}`, `{"id":"fc_1","type":"function_call","call_id":"a","name":"ls","arguments":"{}"}`
	thinking := func(text, signature string) string {
		return fmt.Sprintf(`{"type":"thinking","thinking":%q,"signature":%q}`, text, signature)
	}
	const toolUse = `{"type":"tool_use","id":"a","name":"ls","input":{}}`
	resent := func(blocks string) []exchange {
		on := `"thinking":{"type":"enabled","budget_tokens":50}`
		return []exchange{messages(hi, lsMess, on).answers(message(joined(thinking("hm", "sig1"), toolUse), "tool_use")),
			messages(joined(hi, `{"role":"assistant","content":[`+blocks+`]}`, user(block("a", "1"))), lsMess, on)}
	}
	return []codeCase{
		{"reasoning_item_missing", lint.Error, "/input/1", transcript.Responses,
			[]exchange{responses(userR, lsResp).answers(response(joined(rs, fc))), responses(joined(userR, fc, output("a", "1")), lsResp)},
			[]exchange{responses(userR, lsResp).answers(response(joined(rs, fc))), responses(joined(userR, strings.Replace(fc, `"id":"fc_1",`, "", 1), output("a", "1")), lsResp)}},
		{"reasoning_without_following_item", lint.Error, "/input/1", transcript.Responses,
			one(responses(joined(userR, rs, userR))), one(responses(joined(userR, rs, rs, fc, output("a", "1"))))},
		{"thinking_signature_lost", lint.Error, "/messages/1/content/0", transcript.Messages,
			one(messages(joined(hi, `{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},`+toolUse+`]}`, user(block("a", "1"))))),
			one(messages(joined(hi, `{"role":"assistant","content":[{"type":"redacted_thinking","data":"x"},`+toolUse+`]}`, user(block("a", "1")))))},
		{"thinking_signature_changed", lint.Error, "/messages/1/content/0", transcript.Messages,
			resent(joined(thinking("hm", "sig2"), toolUse)), resent(joined(thinking("hm", "sig1"), toolUse))},
		{"thinking_dropped", lint.Error, "/messages/1/content/0", transcript.Messages,
			resent(toolUse), resent(joined(thinking("hm", "sig1"), toolUse))},
	}
}

func answerCases() []codeCase {
	limited := func(limit int, args string) []exchange {
		return one(chat(hi, lsChat, fmt.Sprintf(`"max_tokens":%d`, limit)).answers(completion(calling(toolCall("a", "ls", args)), "tool_calls")))
	}
	sse := func(events ...string) string { return "data: " + strings.Join(events, "\n\ndata: ") + "\n\n" }
	fragment := func(index int, id string) string {
		return fmt.Sprintf(`{"object":"chat.completion.chunk","id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":%d,"id":%q,"function":{"name":"ls","arguments":"{}"}}]},"finish_reason":null}]}`, index, id)
	}
	const finish = `{"object":"chat.completion.chunk","id":"c","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`
	streamed := func(events ...string) []exchange { return one(chat(hi, lsChat).answers(sse(events...))) }
	return []codeCase{
		{"output_truncated", lint.Error, "/choices/0/message/tool_calls/0", transcript.Chat, limited(300, `{"p":"a`), limited(4096, `{"p":"a`)},
		{"output_truncated", lint.Warning, "", transcript.Chat,
			one(chat(hi).answers(completion(`{"role":"assistant","content":"and so"}`, "length"))), one(chat(hi).answers(stopped))},
		{"answer_cut_off", lint.Error, "/choices/0/message/tool_calls/0", transcript.Chat, streamed(fragment(0, "a")), streamed(fragment(0, "a"), finish, "[DONE]")},
		{"stream_index_collision", lint.Warning, "", transcript.Chat,
			streamed(fragment(0, "a"), fragment(0, "b"), finish, "[DONE]"), streamed(fragment(0, "a"), fragment(1, "b"), finish, "[DONE]")},
		{"non_json_sse_data", lint.Info, "", transcript.Chat,
			streamed(": keepalive", fragment(0, "a"), finish, "[DONE]"), one(chat(hi, lsChat).answers(": keepalive\n\n" + sse(fragment(0, "a"), finish, "[DONE]")))},
	}
}

func runCases() []codeCase {
	two := func(first, second string) []exchange {
		return []exchange{messages(hi, first).answers(message(`{"type":"text","text":"well"}`, "end_turn")), messages(joined(hi, said, goOn), second)}
	}
	system := func(blocks ...string) string { return `"system":[` + strings.Join(blocks, ",") + `]` }
	text := func(s string) string { return fmt.Sprintf(`{"type":"text","text":%q}`, s) }
	long := func(list string) []exchange {
		return []exchange{chat(joined(hi, said, goOn)).answers(stopped), chat(list)}
	}
	const done = `{"role":"assistant","content":"done"}`
	return []codeCase{
		{"system_prompt_changed", lint.Warning, "/system/0", transcript.Messages,
			two(system(text("It is 12:00")), system(text("It is 12:01"))),
			two(system(text("x-anthropic-billing-header: cch=1;"), text("Be kind")), system(text("x-anthropic-billing-header: cch=2;"), `{"type":"text","text":"Be kind","cache_control":{"type":"ephemeral"}}`))},
		{"tools_changed", lint.Warning, "/tools/0", transcript.Messages,
			two(lsMess, strings.Replace(lsMess, `"ls"`, `"rm"`, 1)),
			two(lsMess, strings.Replace(lsMess, `"name":"ls",`, `"cache_control":{"type":"ephemeral"},"name": "ls",`, 1))},
		{"history_edited", lint.Warning, "/messages/1", transcript.Chat,
			long(joined(hi, `{"role":"assistant","content":"WELL"}`, goOn, done, goOn)), long(joined(hi, said, goOn, done, goOn))},
		{"history_dropped", lint.Warning, "/messages/1", transcript.Chat,
			long(joined(hi, goOn)), long(joined(hi, said, goOn, done, goOn))},
	}
}
