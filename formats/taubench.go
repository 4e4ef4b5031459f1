package formats

import (
	"encoding/json"
	"fmt"

	"github.com/retake-debugger/retake/transcript"
)

// A file of tau-bench is a list of tasks, each with its messages of Chat Completions.
// Neither model nor tools are logged.
func fitsTauBench(head []byte) bool {
	return begins(head, '[') && holds(head, `"task_id"`) && (holds(head, `"traj"`) || holds(head, `"reward"`))
}

func readTauBench(s *Source, emit emitter) error {
	return s.elements([]string{""}, nil, func(_ string, raw json.RawMessage) error {
		var t struct {
			Task  json.RawMessage   `json:"task_id"`
			Trial json.RawMessage   `json:"trial"`
			Traj  []json.RawMessage `json:"traj"`
		}
		if err := json.Unmarshal(raw, &t); err != nil {
			return bad("read task: %w", err)
		}
		if len(t.Traj) == 0 {
			return bad("it has no trajectory")
		}
		name := fmt.Sprintf("%s task %s trial %s", s.Name, firstOf(string(t.Task), "?"), firstOf(string(t.Trial), "0"))
		c := s.chatLog("tau-bench\x00"+name, emit)
		c.label, c.grade = name, transcript.ViewOnly
		for _, m := range t.Traj {
			if err := c.message(m, false); err != nil {
				return err
			}
		}
		return nil
	})
}
