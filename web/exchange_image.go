package web

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/transcript"
)

// picture is an image inside an item. Images that an item only links to are not
// fetched.
type picture struct {
	Href string
	Alt  string
}

const (
	picturesShown = 8 // of one item
	pictureDepth  = 8 // levels of an item's JSON that are searched
	largestRaw    = 32 << 20
)

// pictureKinds are the formats that a browser draws and that cannot contain
// scripts.
var pictureKinds = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// picturesOf returns the base64 images of an item at any depth: sources of Messages
// (type, media_type, data) and data URLs.
func picturesOf(it *transcript.Item, p transcript.Place) []picture {
	if len(it.Parts) == 0 {
		return nil
	}
	var list []picture
	for i, enc := range encodedPictures(it.Raw) {
		if i == picturesShown {
			break
		}
		q := url.Values{"side": {p.Body}, "at": {p.At}, "n": {strconv.Itoa(i)}}
		bytes := base64.StdEncoding.DecodedLen(len(enc.data))
		list = append(list, picture{"/x/" + url.PathEscape(p.Exchange) + "/image?" + q.Encode(), "image " + strconv.Itoa(i+1) + ", " + strings.TrimPrefix(enc.kind, "image/") + ", " + size(int64(bytes))})
	}
	return list
}

// encodedPicture is an image as encoded in JSON.
type encodedPicture struct{ kind, data string }

func encodedPictures(raw json.RawMessage) []encodedPicture {
	if len(raw) > largestRaw || !bytes.Contains(raw, []byte("base64")) {
		return nil
	}
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	return findPictures(nil, v, pictureDepth)
}

func findPictures(list []encodedPicture, v any, depth int) []encodedPicture {
	if depth == 0 || len(list) > picturesShown {
		return list
	}
	switch v := v.(type) {
	case string:
		if kind, data, ok := dataURL(v); ok {
			list = append(list, encodedPicture{kind, data})
		}
	case []any:
		for _, e := range v {
			list = findPictures(list, e, depth-1)
		}
	case map[string]any:
		if kind, ok := v["media_type"].(string); ok && v["type"] == "base64" {
			if data, ok := v["data"].(string); ok && isPicture(kind) {
				return append(list, encodedPicture{kind, data})
			}
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			list = findPictures(list, v[name], depth-1)
		}
	}
	return list
}

func dataURL(s string) (kind, data string, ok bool) {
	rest, ok := strings.CutPrefix(s, "data:")
	if !ok {
		return "", "", false
	}
	kind, data, ok = strings.Cut(rest, ";base64,")
	return kind, data, ok && isPicture(kind)
}

func isPicture(kind string) bool { return slices.Contains(pictureKinds, kind) }

// image returns an image of an item if its bytes match the declared format.
func (s *server) image(c *gin.Context) {
	items, err := s.itemsOf(c)
	if err != nil {
		s.failed(c, err)
		return
	}
	n, err := strconv.Atoi(c.Query("n"))
	if err != nil || n < 0 {
		s.fail(c, http.StatusNotFound, "The item has no such image.")
		return
	}
	for i := range items {
		if items[i].At != c.Query("at") {
			continue
		}
		if list := encodedPictures(items[i].Raw); n < len(list) {
			s.picture(c, list[n])
			return
		}
	}
	s.fail(c, http.StatusNotFound, "The item has no such image.")
}

func (s *server) picture(c *gin.Context, p encodedPicture) {
	content, err := base64.StdEncoding.DecodeString(p.data)
	if err != nil || http.DetectContentType(content) != p.kind {
		s.fail(c, http.StatusUnprocessableEntity, "That is not an image of the kind that it claims to be.")
		return
	}
	c.Data(http.StatusOK, p.kind, content)
}
