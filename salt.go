package retake

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// saltBytes is the length of the salt of fingerprints and placeholders.
const saltBytes = 32

// readSalt reads the salt, or makes it. If two processes make it at once, one wins
// and both read the same. A salt of the wrong length was cut while it was written,
// by a full disk for example, and nothing depends on it yet: it is replaced.
func readSalt(file string) ([]byte, error) {
	salt, err := os.ReadFile(file)
	for range 100 { // an older version may be writing it
		if err != nil || len(salt) == saltBytes {
			break
		}
		time.Sleep(pollEvery)
		salt, err = os.ReadFile(file)
	}
	if err == nil && len(salt) == saltBytes {
		return salt, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read salt: %w", err)
	}
	put := os.Link // fails if another process was first
	if err == nil {
		put = os.Rename
	}
	if err := makeSalt(file, put); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("write salt: %w", err)
	}
	if salt, err = os.ReadFile(file); err != nil {
		return nil, fmt.Errorf("read salt: %w", err)
	}
	return salt, nil
}

// makeSalt writes a new salt to a temporary file and puts that in place.
func makeSalt(file string, put func(from, to string) error) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".salt-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	salt := make([]byte, saltBytes)
	rand.Read(salt)
	_, err = f.Write(salt)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return put(f.Name(), file)
}
