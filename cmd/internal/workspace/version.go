package workspace

import (
	"cmp"
	"runtime/debug"
)

// version is what the Makefile says of the sources; "" where go built them alone.
var version string

// Version says what a program was built from: what the Makefile says, else the
// module's version or the commit, as far as the build knows them.
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
