package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"maps"
	"net/http"
	"path"
	"slices"

	"github.com/gin-gonic/gin"
)

//go:embed static
var static embed.FS

// asset is a static file.
type asset struct {
	kind    string
	content []byte
	version string
}

// readAssets returns the static files by name. A request can only name one of
// these.
func readAssets() map[string]asset {
	kinds := map[string]string{
		".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
		".svg": "image/svg+xml", ".LICENSE": "text/plain; charset=utf-8",
	}
	files, err := static.ReadDir("static")
	if err != nil {
		panic(err) // the files are part of the program
	}
	assets := map[string]asset{}
	for _, f := range files {
		content, err := static.ReadFile("static/" + f.Name())
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(content)
		assets[f.Name()] = asset{kinds[path.Ext(f.Name())], content, hex.EncodeToString(sum[:6])}
	}
	return assets
}

// assetURL puts the same version into all addresses, so that a script's relative
// imports have it too.
func (s *server) assetURL(name string) string {
	return "/static/" + s.assetVersion + "/" + name
}

func versionOf(assets map[string]asset) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(assets)) {
		h.Write([]byte(assets[name].version))
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}

func (s *server) asset(c *gin.Context) {
	name, versioned := c.Param("version"), false
	if file := c.Param("name"); file != "" {
		name, versioned = file, name == s.assetVersion
	}
	a, ok := s.assets[name]
	if !ok {
		s.fail(c, http.StatusNotFound, "There is no such file.")
		return
	}
	if versioned {
		c.Header("Cache-Control", "public, max-age=31536000, immutable")
	}
	c.Data(http.StatusOK, a.kind, a.content)
}
