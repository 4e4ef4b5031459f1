package retake

import (
	"cmp"
	"runtime/debug"
)

// version is set by the Makefile; "" if go built the program alone.
var version string

// Version returns what this program was built from: the version that the Makefile
// set, else the module's version, else the commit.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return cmp.Or(version, built(info))
}

func built(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	commit, changed := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = "-dirty"
		}
	}
	if commit != "" {
		return commit + changed
	}
	return "of unknown version"
}
