package decode

import (
	"slices"
	"sync"

	"github.com/retake-debugger/retake/transcript"
)

// settingsMost is of how many agents the settings are remembered.
const settingsMost = 32

// settings reads the settings of requests, which are the same at each step of an
// agent, once. Texts that the decoder remembers are compared by their place. The
// zero settings is ready; it may be used by several goroutines.
type settings struct {
	mu    sync.Mutex
	known []knownSettings // used last at the end
}

type knownSettings struct {
	texts []string // of the system prompt, and names of tools
	tools int      // so many of them are names
	are   transcript.Settings
}

func (s *settings) of(input []transcript.Item) transcript.Settings {
	var now knownSettings
	for _, kind := range []transcript.Kind{transcript.ToolDefinition, transcript.System} {
		for i := range input {
			switch it := &input[i]; {
			case it.Kind != kind:
			case kind == transcript.System:
				now.texts = append(now.texts, it.Text)
			default:
				now.texts, now.tools = append(now.texts, it.Name), now.tools+1
			}
		}
	}
	if len(now.texts) == 0 {
		return transcript.Settings{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, k := range slices.Backward(s.known) {
		if k.tools == now.tools && slices.Equal(k.texts, now.texts) {
			s.known = append(slices.Delete(s.known, i, i+1), k)
			return k.are
		}
	}
	now.are = transcript.SettingsOf(input)
	if len(s.known) == settingsMost {
		s.known = slices.Delete(s.known, 0, 1)
	}
	s.known = append(s.known, now)
	return now.are
}
