package retake

import (
	"runtime/debug"
	"testing"
)

func TestBuilt_NamesWhatItKnows(t *testing.T) {
	info := func(module string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: module}, Settings: settings}
	}
	commit, changed := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef0123"}, debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	for want, of := range map[string]*debug.BuildInfo{
		"v1.2.3":             info("v1.2.3", commit),
		"0123456789ab":       info("(devel)", commit),
		"0123456789ab-dirty": info("(devel)", commit, changed),
		"of unknown version": info("(devel)"),
	} {
		if got := built(of); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
