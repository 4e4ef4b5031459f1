package web

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/replay/sample"
)

// Labels of long arguments are cut where a report is kept, so that several outcomes may
// have the same one: all of them count.
func TestSamplePage_CountsOutcomesWithOneLabel(t *testing.T) {
	p := &samplePage{S: &sample.Report{Arms: []sample.ArmResult{
		{N: 9, Outcomes: []sample.OutcomeCount{{Label: "write …", Count: 4}, {Label: "write …", Count: 3}, {Label: "read", Count: 2}}},
		{N: 5, Outcomes: []sample.OutcomeCount{{Label: "write …", Count: 5}}},
	}}}
	p.report()
	want := []outcomeRow{{"write …", []part{{7, 9}, {5, 5}}}, {"read", []part{{2, 9}, {0, 5}}}}
	if diff := cmp.Diff(want, p.Rows); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
