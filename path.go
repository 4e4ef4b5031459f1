package retake

import (
	"errors"
	"path/filepath"
)

// DefaultPath returns the database that the commands use when none is named:
// $RETAKE_DB, else retake/retake.db in the user's data folder. It fails if the environment
// names neither.
func DefaultPath(getenv func(string) string) (string, error) {
	if path := getenv("RETAKE_DB"); path != "" {
		return path, nil
	}
	data := getenv("XDG_DATA_HOME")
	if data == "" {
		home := getenv("HOME")
		if home == "" {
			return "", errors.New("find data folder: neither RETAKE_DB, XDG_DATA_HOME nor HOME is set")
		}
		data = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(data, "retake", "retake.db"), nil
}

// SpoolDir returns the folder that holds the spools of a database.
func SpoolDir(db string) string { return db + ".spool" }
