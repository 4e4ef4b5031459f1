package view

import (
	"slices"

	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/transcript"
)

const keptSettings = 4

type settings struct {
	pieces []transcript.BodyID
	short  transcript.Settings
	tools  []string
}

// setUp adds the system prompt and the tools: for the first step, and where they
// differ from the step before.
func (t *StepReader) setUp(step *StepView, now *history.Request, before *past) {
	var was *settings
	if before != nil {
		was = t.settingsOf(before.request)
	}
	is := t.settingsOf(now)
	c := &step.Context
	if was == nil {
		c.Tools = is.tools
		return
	}
	if is == was || held(&now.Exchange.Link) && len(is.tools) == 0 {
		return
	}
	c.System = is.short.System != was.short.System
	for _, name := range is.tools {
		if !slices.Contains(was.tools, name) {
			c.ToolsAdded = append(c.ToolsAdded, name)
		}
	}
	for _, name := range was.tools {
		if !slices.Contains(is.tools, name) {
			c.ToolsRemoved = append(c.ToolsRemoved, name)
		}
	}
	if c.System {
		list := t.Settings(now)
		for i := range list {
			if list[i].Kind == transcript.System {
				step.Entries = append(step.Entries, t.entry(now.Exchange, "request", &list[i]))
			}
		}
	}
}

// settingsOf reads the settings of a request. If they are in the same units as the
// last ones, they are equal.
func (t *StepReader) settingsOf(r *history.Request) *settings {
	id := r.Exchange.ID
	if s := t.lastSettings[id]; s != nil {
		return s
	}
	pieces := t.SettingSegments(r)
	for _, s := range t.lastSettings {
		if pieces != nil && slices.Equal(s.pieces, pieces) {
			t.keepSettings(id, s)
			return s
		}
	}
	list := t.Settings(r)
	s := &settings{pieces: pieces, short: transcript.SettingsOf(list)}
	for i := range list {
		if list[i].Kind == transcript.ToolDefinition {
			s.tools = append(s.tools, list[i].Name)
		}
	}
	t.keepSettings(id, s)
	return s
}

func (t *StepReader) keepSettings(id string, s *settings) {
	if len(t.lastSettings) > keptSettings {
		clear(t.lastSettings)
	}
	t.lastSettings[id] = s
}
