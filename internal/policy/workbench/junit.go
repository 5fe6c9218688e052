package workbench

import (
	"encoding/xml"
	"fmt"
	"io"
	"time"
)

// Suite is a group of tests in a JUnit report.
type Suite struct {
	Name  string
	Tests []Test
}

// The part of JUnit's XML that CI services read.
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	File    string        `xml:"file,attr"`
	Line    int           `xml:"line,attr,omitempty"`
	Time    string        `xml:"time,attr"`
	Failure *junitFailure `xml:"failure,omitempty"`
	Skipped *struct{}     `xml:"skipped,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes suites as JUnit XML, which CI services read.
func WriteJUnit(w io.Writer, suites []Suite) error {
	var out junitSuites
	var all time.Duration
	for _, s := range suites {
		suite, took := junitOf(s)
		out.Suites = append(out.Suites, suite)
		out.Tests += suite.Tests
		out.Failures += suite.Failures
		all += took
	}
	out.Time = seconds(all)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(out); err != nil {
		return fmt.Errorf("write JUnit: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func junitOf(s Suite) (suite junitSuite, took time.Duration) {
	suite = junitSuite{Name: s.Name, Tests: len(s.Tests), Cases: make([]junitCase, 0, len(s.Tests))}
	for _, t := range s.Tests {
		c := junitCase{Class: t.Package, Name: t.Name, File: t.File, Line: t.Line, Time: seconds(t.Duration)}
		if t.Failed {
			suite.Failures++
			c.Failure = &junitFailure{Message: firstLine(t.Why), Text: t.Why}
		}
		if t.Skipped {
			suite.Skipped++
			c.Skipped = &struct{}{}
		}
		took += t.Duration
		suite.Cases = append(suite.Cases, c)
	}
	suite.Time = seconds(took)
	return suite, took
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.6f", d.Seconds()) }

func firstLine(text string) string {
	for i := range len(text) {
		if text[i] == '\n' {
			return text[:i]
		}
	}
	return text
}
