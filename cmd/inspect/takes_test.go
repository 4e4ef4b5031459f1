package main

import (
	"encoding/json"
	"testing"

	"github.com/retake-debugger/retake/replay"
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

func TestIsCallID_KnowsPartsAndPrintedIDs(t *testing.T) {
	for given, want := range map[string]bool{
		"call_ZtaPWt54CjYgo5lIPtyn5vVC": true, "ZtaP": true, "5vVC": true, shortID("call_ZtaPWt54CjYgo5lIPtyn5vVC"): true, "call_Zt…": true,
		"call_Zz": false, "call_ZtaP…5vVD": false, "all_ZtaP…5vVC": false, "call_ZtaPWt54CjYgo5lIPtyn5v…tyn5vVC": false,
	} {
		if got := replay.IsCallID("call_ZtaPWt54CjYgo5lIPtyn5vVC", given); got != want {
			t.Errorf("%s: %v, want %v", given, got, want)
		}
	}
}
