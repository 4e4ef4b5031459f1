package web_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/web"
)

func pixel(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func TestImages_AreShownFromWhatIsRecordedAlone(t *testing.T) {
	data := pixel(t)
	svg := base64.StdEncoding.EncodeToString([]byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`))
	page := base64.StdEncoding.EncodeToString([]byte(`<html><script>alert(1)</script>`))
	h := web.New(options(openStore(t, []*transcript.Capture{
		capture(1, "/v1/messages", 200, messagesBody(`{"role":"user","content":[{"type":"text","text":"Look"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"`+data+`"}}]}`),
			messagesAnswer("msg_1", `{"type":"text","text":"Grey."}`, "end_turn")),
		capture(2, "/v1/chat/completions", 200, `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"Look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,`+data+`"}},
			{"type":"image_url","image_url":{"url":"https://evil.example/x.png"}},{"type":"image_url","image_url":{"url":"data:image/svg+xml;base64,`+svg+`"}},
			{"type":"image_url","image_url":{"url":"data:image/png;base64,`+page+`"}}]}]}`,
			`{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Grey."},"finish_reason":"stop"}]}`),
	})))
	for target, want := range map[string]int{"/x/1": 1, "/x/2": 2} {
		p := open(t, h, target)
		list := p.all(func(n *html.Node) bool { return n.Data == "img" })
		if len(list) != want {
			t.Errorf("%s shows %d images, want %d", target, len(list), want)
			continue
		}
		w := ask(h, "GET", list[0].attr("src"))
		if w.Code != 200 || w.Header().Get("Content-Type") != "image/png" || w.Header().Get("X-Content-Type-Options") != "nosniff" || base64.StdEncoding.EncodeToString(w.Body.Bytes()) != data {
			t.Errorf("%s: %d %s", list[0].attr("src"), w.Code, w.Header().Get("Content-Type"))
		}
		for _, img := range list {
			if !strings.HasPrefix(img.attr("src"), "/x/") {
				t.Errorf("%s loads %s", target, img.attr("src"))
			}
		}
		if want == 2 { // it says that it is an image, and is a page
			if w := ask(h, "GET", list[1].attr("src")); w.Code != 422 || strings.Contains(w.Body.String(), "alert") {
				t.Errorf("a page is served as an image: %d", w.Code)
			}
		}
	}
	for _, query := range []string{"side=request&at=/messages/0&n=99", "side=request&at=/messages/0&n=-1", "side=request&at=/nowhere&n=0", ""} {
		if w := ask(h, "GET", "/x/2/image?"+query); w.Code != 404 {
			t.Errorf("image?%s: status %d", query, w.Code)
		}
	}
}
