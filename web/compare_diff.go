package web

import (
	"strings"

	"github.com/retake-debugger/retake/analysis"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// newDiffView lays out a diff, starting at the given differing act.
func newDiffView(d *view.Diff, from int) *diffView {
	v := &diffView{Diff: d, Facts: factsOf(d)}
	b := newBudget()
	differing := 0
	for i := 0; i < len(d.Acts); {
		if d.Acts[i].Fate == analysis.Same {
			end := i
			for end < len(d.Acts) && d.Acts[end].Fate == analysis.Same {
				end++
			}
			if differing >= from && differing < from+actsShown {
				v.Parts = append(v.Parts, sameStretch(d.Acts[i:end]))
			}
			i = end
			continue
		}
		if differing++; differing > from && differing <= from+actsShown {
			v.Parts = append(v.Parts, diffPart{First: d.Divergence != nil && *d.Divergence == i, Act: newActView(b, &d.Acts[i])})
		}
		i++
	}
	v.Left = max(differing-from-actsShown, 0)
	return v
}

func sameStretch(acts []view.DiffAct) diffPart {
	p := diffPart{Same: acts[:min(len(acts), sameListed)], From: stepRef(acts[0].A), To: stepRef(acts[len(acts)-1].A)}
	p.Left = len(acts) - len(p.Same)
	return p
}

func (p diffPart) Count() int { return len(p.Same) + p.Left }

func stepRef(r *view.ActRef) string {
	if r == nil {
		return ""
	}
	return r.Step
}

func newActView(b *budget, a *view.DiffAct) *actView {
	v := &actView{Fate: a.Fate, Moved: a.Moved, Label: actLabel(a)}
	v.A, v.B = sideOf(b, a.A), sideOf(b, a.B)
	if a.Fate != analysis.Changed {
		return v
	}
	v.Spans = clip(b, a.Text)
	for _, d := range a.Arguments {
		v.Values = append(v.Values, valueDiff{"arguments" + d.At, clip(b, between(d))})
	}
	v.result(b, a.Result)
	return v
}

func (v *actView) result(b *budget, r *view.ResultDiff) {
	if r == nil {
		return
	}
	switch {
	case r.WasMissing:
		v.Notes = append(v.Notes, "The first has no result for this call.")
	case r.NowMissing:
		v.Notes = append(v.Notes, "The second has no result for this call.")
	case !r.WasError && r.NowError:
		v.Notes = append(v.Notes, "The result is an error now.")
	case r.WasError && !r.NowError:
		v.Notes = append(v.Notes, "The result is no error any more.")
	}
	for _, d := range r.Values {
		v.Values = append(v.Values, valueDiff{"result" + d.At, clip(b, between(d))})
	}
	v.Result = clip(b, r.Text)
}

// wordsFrom is the length from which values are compared word by word.
const wordsFrom = 60

// between returns how one JSON value became another.
func between(d analysis.Difference) []analysis.Span {
	was, now := string(d.Was), string(d.Now)
	if len(was) >= wordsFrom && len(now) >= wordsFrom && was[0] == now[0] && len(was)+len(now) <= 2*maxValue {
		return analysis.DiffWords(was, now)
	}
	var spans []analysis.Span
	if was != "" {
		spans = append(spans, analysis.Span{Fate: analysis.Removed, Text: transcript.Head(was, maxValue)})
	}
	if was != "" && now != "" {
		spans = append(spans, analysis.Span{Fate: analysis.Same, Text: " "})
	}
	if now != "" {
		spans = append(spans, analysis.Span{Fate: analysis.Added, Text: transcript.Head(now, maxValue)})
	}
	return spans
}

// clip keeps as much of a text diff as the page has room for. Of a long unchanged
// stretch it keeps only the ends.
func clip(b *budget, spans []analysis.Span) []analysis.Span {
	const around = 300
	var out []analysis.Span
	for i, s := range spans {
		text := s.Text
		if s.Fate == analysis.Same && len(text) > 3*around {
			before, after := transcript.Head(text, around), tail(text, around)
			if i == 0 {
				before = ""
			}
			if i == len(spans)-1 {
				after = ""
			}
			text = before + " … " + after
		}
		text = transcript.Head(text, max(min(maxValue, b.left), leastShown))
		b.left -= cost(text)
		out = append(out, analysis.Span{Fate: s.Fate, Text: text})
	}
	return out
}

// tail returns at most the last n bytes of s, cut between characters.
func tail(s string, n int) string {
	from := len(s) - n
	if from <= 0 {
		return s
	}
	return strings.ToValidUTF8(s[from:], "")
}

func actLabel(a *view.DiffAct) string {
	switch a.Kind {
	case transcript.ToolCall:
		return a.Name
	case transcript.MessageItem:
		return a.Role
	}
	return strings.ReplaceAll(string(a.Kind), "_", " ")
}

func sideOf(b *budget, r *view.ActRef) *actSide {
	if r == nil {
		return nil
	}
	s := &actSide{Step: r.Step, Href: itemPageURL(r.Exchange, r.At)}
	if r.Item == nil {
		return s
	}
	switch {
	case r.Item.Kind == transcript.ToolCall:
		s.Text = b.data(r.Item.ArgumentsRaw, "", moderate)
	case r.Item.Text == "":
		s.Text = b.data(string(r.Item.Raw), "", moderate)
	default:
		s.Text = b.value(r.Item.Text, "", moderate)
	}
	if r.Result != nil {
		text := b.data(r.Result.Text, "", moderate)
		s.Result, s.Error = &text, r.Result.IsError
	}
	return s
}

func factsOf(d *view.Diff) []compared {
	x, y := &d.A, &d.B
	var list []compared
	fact := func(name, was, now string) {
		if was != "" || now != "" {
			list = append(list, compared{name, was, now, was != now})
		}
	}
	whole := func(name string, was, now int64) { fact(name, count(was), count(now)) }
	fact("model", strings.Join(x.Models, ", "), strings.Join(y.Models, ", "))
	fact("dialect", dialects(x), dialects(y))
	whole("steps", int64(x.Steps), int64(y.Steps))
	whole("calls", int64(x.Calls), int64(y.Calls))
	whole("errors", int64(x.Errors), int64(y.Errors))
	if x.Usage != nil && y.Usage != nil {
		whole("tokens in", x.Usage.InputTotal, y.Usage.InputTotal)
		whole("cached", x.Usage.CacheRead, y.Usage.CacheRead)
		whole("tokens out", x.Usage.Output, y.Usage.Output)
	}
	fact("cost", dollars(x.CostUSD, x.LowerBound), dollars(y.CostUSD, y.LowerBound))
	fact("took", duration(x.DurationMS), duration(y.DurationMS))
	fact("end", x.End, y.End)
	return list
}

func dialects(s *view.Side) string {
	var names []string
	for _, d := range s.Dialects {
		names = append(names, string(d))
	}
	return strings.Join(names, ", ")
}
