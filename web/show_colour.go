package web

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/web/safehtml"
)

// paths are the arguments in which tools take a file.
var paths = []string{"path", "file_path", "filePath", "filepath", "file", "filename", "absolute_path", "target_file", "notebook_path"}

// longestArguments bounds the arguments that are searched for a file name.
const longestArguments = 16 << 10

// told is what a call's arguments say about a file.
type told struct {
	file    string // "" for none
	command string // shell command, or the operation of a tool with several
}

func toldBy(arguments json.RawMessage) told {
	var all map[string]json.RawMessage
	if len(arguments) > longestArguments || json.Unmarshal(arguments, &all) != nil {
		return told{}
	}
	text := func(names ...string) string {
		for _, name := range names {
			var s string
			if raw, ok := all[name]; ok && json.Unmarshal(raw, &s) == nil {
				return s
			}
		}
		return ""
	}
	return told{file: text(paths...), command: text("command", "cmd")}
}

// formOfResult returns the form of a result by its call: the file that a tool read
// or that a command printed. Text if that is not clear.
func formOfResult(call, result *transcript.Item) safehtml.Form {
	if call.Kind != transcript.ToolCall || result.IsError {
		return safehtml.Text
	}
	t := toldBy(call.Arguments)
	switch {
	case t.file != "" && reads(call.Name, t.command):
		return safehtml.OfFile(t.file)
	case t.file == "" && t.command != "":
		return safehtml.OfFile(printedBy(t.command))
	}
	return safehtml.Text
}

// reads reports whether a tool returns the content of a file and nothing else.
func reads(tool, command string) bool {
	name := strings.ToLower(tool)
	if strings.Contains(name, "edit") { // one tool for all operations
		return command == "view"
	}
	for _, part := range []string{"read", "view", "open_file", "get_file", "cat_file", "show_file"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return name == "cat" || name == "open"
}

// printedBy returns the file that a command prints, "" if it does anything else.
func printedBy(command string) string {
	if len(command) > 400 || strings.ContainsAny(command, "|;&<>`$(){}\n") {
		return ""
	}
	words := strings.Fields(command)
	if len(words) < 2 {
		return ""
	}
	file := words[len(words)-1]
	for i, word := range words[1 : len(words)-1] {
		isCount := i > 0 && strings.HasPrefix(words[i], "-") && strings.Trim(word, "+0123456789") == ""
		isPart := words[0] == "sed" && i == 1 && words[1] == "-n"
		if !strings.HasPrefix(word, "-") && !isCount && !isPart {
			return "" // several files
		}
	}
	switch words[0] {
	case "cat", "head", "tail", "nl", "bat":
		return strings.Trim(file, `"'`)
	case "sed":
		if words[1] == "-n" && len(words) == 4 {
			return strings.Trim(file, `"'`)
		}
	}
	return ""
}

// formOfArgument returns the form of an argument by its name and by the file named
// in the same call.
func formOfArgument(name, text string, beside told) safehtml.Form {
	switch name {
	case "command", "cmd":
		if strings.ContainsAny(text, " \n") {
			return safehtml.Named("sh")
		}
	case "sql":
		return safehtml.Named("sql")
	case "content", "contents", "file_text", "new_string", "old_string", "new_str", "old_str", "newText", "oldText":
		if path.Ext(beside.file) != "" {
			return safehtml.OfFile(beside.file)
		}
	}
	return safehtml.OfBeginning(text)
}
