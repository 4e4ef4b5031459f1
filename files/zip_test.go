package files_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/files"
	"github.com/retake-debugger/retake/formats"
)

// entry is a file in a zip archive.
type entry struct {
	name, text string
	mode       fs.FileMode
	flags      uint16
	says       uint64 // of its size, instead of the truth
}

func zipOf(t testing.TB, entries ...entry) string {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Store, Flags: e.flags, CRC32: crc32.ChecksumIEEE([]byte(e.text)), CompressedSize64: uint64(len(e.text)), UncompressedSize64: uint64(len(e.text))}
		if e.mode != 0 {
			h.SetMode(e.mode)
		}
		if e.says > 0 {
			h.UncompressedSize64 = e.says
			h.Method, e.text = zip.Deflate, deflated(t, e.text)
			h.CompressedSize64 = uint64(len(e.text))
		}
		part, err := w.CreateRaw(h)
		if err != nil {
			t.Fatal(err)
		}
		part.Write([]byte(e.text))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func deflated(t testing.TB, text string) string {
	t.Helper()
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil || w.Close() != nil {
		t.Fatal("deflate", err)
	}
	return out.String()
}

func chatOf(text string) string { return strings.Replace(chat, "Well.", text, 1) }

func takeZip(t *testing.T, text string, most int64) (did *files.Imported, left []string) {
	t.Helper()
	im, _ := newImport(t)
	im.MostUnpacked = most
	im.Left = func(_, entry, why string) { left = append(left, entry+": "+why) }
	did, err := im.Read(t.Context(), files.File{Name: "a.zip", Base: "a", Reader: strings.NewReader(text)})
	if err != nil {
		t.Fatal(err)
	}
	return did, left
}

func TestImport_TakesInWhatIsInAZipArchive(t *testing.T) {
	text := zipOf(t, entry{name: "p/s1/subagents/agent-1.jsonl", text: claudeSub}, entry{name: "p/s1.jsonl", text: claudeMain}, entry{name: "p/", mode: fs.ModeDir | 0o755},
		entry{name: `..\..\..\evil.jsonl`, text: chatOf("a")}, entry{name: "/etc/../../up.jsonl", text: chatOf("b") + "{\n"}, entry{name: "README", text: "no transcript"},
		entry{name: "in.zip", text: zipOf(t, entry{name: "x.jsonl", text: chatOf("c")})}, entry{name: "in.gz", text: "\x1f\x8b..."}, entry{name: "in.archive", text: "\x28\xb5\x2f\xfd"},
		entry{name: "link.jsonl", text: "/etc/passwd", mode: fs.ModeSymlink | 0o777}, entry{name: "secret.jsonl", text: chatOf("d"), flags: 1})
	dir := t.TempDir()
	t.Chdir(dir)
	did, left := takeZip(t, text, 0)
	if did.Format != "zip" || did.Files != 4 || did.Exchanges != 6 || did.New != 6 || did.Runs != 3 || did.Bad != 1 || did.LeftOut != 6 || did.Error != "" {
		t.Errorf("%+v", did)
	}
	want := []string{"README: it is in no format that is known", "in.archive: archives in an archive are not followed", "in.gz: archives in an archive are not followed",
		"in.zip: archives in an archive are not followed", "link.jsonl: it is no regular file", "secret.jsonl: it is encrypted"}
	if got := strings.Join(left, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("left out:\n%s", got)
	}
	if made, err := os.ReadDir(dir); err != nil || len(made) > 0 {
		t.Errorf("files were made: %v, %v", made, err)
	}
}

func TestImport_BoundsWhatAZipArchiveUnpacksTo(t *testing.T) {
	large := strings.Repeat(chatOf("a"), 100)
	for name, c := range map[string]struct {
		entries []entry
		files   int
		left    string
	}{
		"one is too large":      {[]entry{{name: "a", text: large}, {name: "b", text: chat}}, 1, "a: the file unpacks to too much"},
		"one lies":              {[]entry{{name: "a", text: large, says: 10}, {name: "b", text: chat}}, 1, "a: zip: not a valid zip file"},
		"all are too large":     {[]entry{{name: "a", text: large[:900]}, {name: "b", text: large[:900]}}, 1, "b: the file unpacks to too much"},
		"one is shorter":        {[]entry{{name: "a", text: chat, says: 1000}, {name: "b", text: chat}}, 2, "a: unexpected EOF"},
		"the list is too long":  {many(100_000), 0, ""},
		"there is nothing":      {nil, 0, ""},
		"there is no known one": {[]entry{{name: "a", text: "?"}}, 0, "a: it is in no format that is known"},
	} {
		t.Run(name, func(t *testing.T) {
			did, left := takeZip(t, zipOf(t, c.entries...), 1500)
			if did.Files < c.files || did.Error == "" || !strings.HasPrefix(strings.Join(left, "\n"), c.left) {
				t.Errorf("%+v, left out %q", did, left)
			}
		})
	}
}

func many(n int) []entry {
	list := make([]entry, n)
	for i := range list {
		list[i].name = fmt.Sprintf("%080d", i)
	}
	return list
}

func FuzzZip(f *testing.F) {
	f.Add([]byte(zipOf(f, entry{name: "a.jsonl", text: chat})))
	f.Add([]byte(zipOf(f, entry{name: "../a", text: "?", says: 1 << 40}, entry{name: "b", text: claudeMain})))
	f.Fuzz(func(t *testing.T, text []byte) {
		im, _ := newImport(t)
		im.MostUnpacked = 1 << 20
		_, err := im.Read(t.Context(), files.File{Name: "a.zip", Reader: bytes.NewReader(text)})
		if err != nil && !errors.Is(err, files.ErrTooLarge) {
			t.Log(err) // whatever it is, nothing panics
		}
	})
}

// What was read of a file before the place where it is damaged goes in, however little
// that is.
func TestImport_TakesInWhatADamagedFileOfAZipArchiveHolds(t *testing.T) {
	var text strings.Builder
	for n := range 20 {
		text.WriteString(chatOf(fmt.Sprint(n, strings.Repeat(" well", formats.HeadBytes/50))))
	}
	whole := zipOf(t, entry{name: "a.jsonl", text: text.String()}, entry{name: "b.jsonl", text: chat})
	damaged := strings.Replace(whole, "19 well", "19 WELL", 1)
	did, left := takeZip(t, damaged, 0)
	if did.New < 20 || did.Files != 2 || did.Error == "" || len(left) != 1 {
		t.Errorf("%+v, left out %q", did, left)
	}
}
