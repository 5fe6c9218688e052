package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/sluice-gateway/sluice/bench/internal/report"
)

func drawn() *report.Report {
	return &report.Report{
		Machine:  report.Machine{Model: "CPU <&> Sons"},
		Targets:  []report.Target{{Key: "a", Title: "Sluice"}, {Key: "d", Title: "python -I & more"}, {Key: "x", Title: "never measured"}},
		Programs: []string{"factor"},
		Cells: []report.Cell{
			{Target: "a", Program: "factor", Clients: 1, P50: 5, P99: 9},
			{Target: "d", Program: "factor", Clients: 1, P50: 400, P99: 380}, // fewer requests than percentiles
			{Target: "a", Program: "factor", Clients: 2, P50: 77777},
		},
	}
}

func TestTheChartIsXMLAndLongerTimesHaveLongerBars(t *testing.T) {
	var b bytes.Buffer
	if err := Draw(&b, drawn(), []string{"factor", "figure"}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	d := xml.NewDecoder(strings.NewReader(text))
	var widths []string
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "rect" {
			widths = append(widths, e.Attr[2].Value)
		}
	}
	// the first is the ground; 5 ms and 400 ms lie between 1 and 1000: 0.699 and 2.602 of three decades of 470 pixels
	if len(widths) != 3 || widths[1] != "109.5" || widths[2] != "407.7" {
		t.Errorf("widths: %v", widths)
	}
	for _, want := range []string{"python -I &amp; more", "CPU &lt;&amp;&gt; Sons", "400 ms", "#0969da"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(text, "never measured") || strings.Contains(text, "77777") {
		t.Error("it shows what was not measured, or another number of clients")
	}
	var again bytes.Buffer
	if err := Draw(&again, drawn(), []string{"factor", "figure"}); err != nil || again.String() != text {
		t.Error("the same report gave another chart")
	}
}

func TestAReportWithoutTheProgramsIsAnError(t *testing.T) {
	if err := Draw(io.Discard, drawn(), []string{"figure"}); err == nil {
		t.Error("no error")
	}
}
