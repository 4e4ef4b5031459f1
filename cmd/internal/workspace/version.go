package workspace

import "runtime/debug"

// Version is that of the module, with the commit where the build knows it.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	version := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 && version == "(devel)" {
			version += " " + s.Value[:12]
		}
	}
	return version
}
