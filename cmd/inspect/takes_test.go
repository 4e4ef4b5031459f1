package main

import (
	"encoding/json"
	"testing"

	"github.com/retake-debugger/retake/transcript"
)

func TestEditWord_SaysWhatAnEditChanges(t *testing.T) {
	for want, e := range map[string]transcript.Edit{
		"set result call_1":       {Op: transcript.SetResult, CallID: "call_1", At: "/messages/2", Text: "long"},
		"model gpt-5":             {Op: transcript.SetModel, At: "/model", Text: "gpt-5"},
		"param temperature=0":     {Op: transcript.SetParam, At: "/temperature", Text: "temperature", Value: json.RawMessage("0")},
		"set system /messages/0":  {Op: transcript.SetSystem, At: "/messages/0", Text: "Be brief."},
		"set /messages/0/content": {Op: transcript.SetValue, At: "/messages/0/content", Value: json.RawMessage(`"x"`)},
		"drop /messages/3":        {Op: transcript.Drop, At: "/messages/3"},
	} {
		if got := editWord(&e); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
