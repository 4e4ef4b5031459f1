package files_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/files"
	"github.com/retake-debugger/retake/ingest/reindex"
)

// agentic are folders of transcripts of programs that name their sessions.
var agentic = []string{"claude-code-spotter", "claude-code-codemie", "codex-rollout", "gemini-cli", "pi-coding-agent"}

// sessions are texts of sessions and of sub-agents, each a file of its own: small ones,
// and the published transcripts where they are.
func sessions(t *testing.T) [][]byte {
	t.Helper()
	var list [][]byte
	for i, text := range []string{
		claudeMain, claudeSub, codexMain,
		codexSpawned + codexTurn + codexPrompt + codexWork,
		codexSpawned + codexInherited + codexAsked + codexGreeted + codexTurn + codexTask + codexWork,
	} {
		if i == 4 { // another sub-agent
			text = strings.ReplaceAll(strings.ReplaceAll(text, subThread, strings.Replace(subThread, "2000", "3000", 1)), subTurn, strings.Replace(subTurn, "2100", "3100", 1))
		}
		list = append(list, []byte(text))
	}
	err := filepath.WalkDir("../../shared/corpus/long/dev", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !slices.Contains(agentic, filepath.Base(filepath.Dir(path))) && !strings.Contains(path, "subagents") {
			return err
		}
		text, err := os.ReadFile(path)
		list = append(list, text)
		return err
	})
	if err != nil {
		t.Log("without the published transcripts, which are not here:", err)
	}
	return list
}

// grown adds the beginnings of some, as if they had been taken in while they went on.
func grown(rnd *rand.Rand, list [][]byte) [][]byte {
	var all [][]byte
	for _, text := range list {
		if lines := bytes.SplitAfter(text, []byte("\n")); len(lines) > 4 && rnd.IntN(3) == 0 {
			all = append(all, bytes.Join(lines[:2+rnd.IntN(len(lines)-2)], nil))
		}
	}
	return append(all, list...)
}

// What is taken in, in whatever order and in however many imports, verify finds right
// and reindex leaves as it is.
func TestImport_DerivesWhatReindexDoes(t *testing.T) {
	list := sessions(t)
	for _, seed := range []uint64{0, 1, 27} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(seed, 3))
			im, _ := newImport(t)
			texts := grown(rnd, list)
			rnd.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
			for len(texts) > 0 {
				n := 1 + rnd.IntN(len(texts))
				once := files.Import{Store: im.Store, Format: im.Format, Redact: im.Redact, Bad: im.Bad}
				for i, text := range texts[:n] {
					name := fmt.Sprint(len(texts), ".", i)
					if _, err := once.Read(t.Context(), files.File{Name: name, Base: name, Reader: bytes.NewReader(text)}); err != nil {
						t.Fatal(err)
					}
				}
				texts = texts[n:]
				if found, err := reindex.Compare(t.Context(), im.Store, nil); err != nil || len(found) > 0 {
					t.Fatalf("verify: %v, %v", found, err)
				}
			}
			for range 2 {
				if did, err := reindex.Run(t.Context(), im.Store, "test", nil); err != nil || did.Exchanges < 10 || did.Changed > 0 {
					t.Errorf("reindex: %+v, %v", did, err)
				}
				if found, err := reindex.Compare(t.Context(), im.Store, nil); err != nil || len(found) > 0 {
					t.Errorf("verify after it: %v, %v", found, err)
				}
			}
		})
	}
}

// A sub-agent whose session nobody has named yet finds its call in another program's
// run; that this gave the run its name is no evidence for it when it is derived again.
func TestImport_ASessionThatItNamedItselfIsNoEvidence(t *testing.T) {
	im, _ := newImport(t)
	open := strings.Join(strings.SplitAfter(claudeMain, "\n")[:2], "")
	for _, text := range []string{open, codexSpawned + codexTurn + codexPrompt + codexWork} {
		if did, err := im.Read(t.Context(), files.File{Name: "a", Base: "a", Reader: strings.NewReader(text)}); err != nil || did.New == 0 {
			t.Fatalf("%+v, %v", did, err)
		}
	}
	if got := agentsOf(t, im.Store); got != "main 1; sub 2 called by call_1" {
		t.Error(got)
	}
	if found, err := reindex.Compare(t.Context(), im.Store, nil); err != nil || len(found) > 0 {
		t.Errorf("verify: %v, %v", found, err)
	}
}
