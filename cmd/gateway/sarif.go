package main

import (
	"path/filepath"
	"strings"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// The part of SARIF 2.1.0 (OASIS) that a decision needs. Columns count
// characters, as ours do.
type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool       sarifTool     `json:"tool"`
	ColumnKind string        `json:"columnKind"`
	Results    []sarifResult `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name            string      `json:"name"`
	SemanticVersion string      `json:"semanticVersion"`
	Rules           []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID      string    `json:"id"`
	Text    sarifText `json:"shortDescription"`
	Help    sarifText `json:"help"`
	HelpURI string    `json:"helpUri,omitempty"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID    string          `json:"ruleId"`
	Level     string          `json:"level"` // error, warning
	Message   sarifText       `json:"message"`
	Locations []sarifLocation `json:"locations"`
}

type sarifLocation struct {
	Physical sarifPhysical `json:"physicalLocation"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   sarifRegion   `json:"region"`
}

type sarifArtifact struct {
	URI string `json:"uri"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn"`
	EndLine     int `json:"endLine,omitempty"`
	EndColumn   int `json:"endColumn,omitempty"`
}

// sarifOf is a decision for code hosts and editors. A text that does not parse
// is a result of the rule syntax.
func sarifOf(name string, ans gateway.Answer) sarifLog {
	run := sarifRun{
		Tool:       sarifTool{sarifDriver{Name: "sluice", SemanticVersion: strings.TrimPrefix(version, "v"), Rules: []sarifRule{}}},
		ColumnKind: "unicodeCodePoints", Results: []sarifResult{},
	}
	seen := map[string]bool{}
	for _, v := range violationsOf(ans) {
		if !seen[v.Rule] {
			seen[v.Rule] = true
			rule := sarifRule{ID: v.Rule, Text: sarifText{v.Title}, Help: sarifText{v.Hint}}
			if strings.Contains(v.URL, "://") {
				rule.HelpURI = v.URL
			}
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, rule)
		}
		level := "warning"
		if v.Level == gateway.LevelError {
			level = "error"
		}
		run.Results = append(run.Results, sarifResult{
			RuleID: v.Rule, Level: level, Message: sarifText{v.Message},
			Locations: []sarifLocation{{sarifPhysical{
				sarifArtifact{filepath.ToSlash(name)},
				sarifRegion{StartLine: v.Line, StartColumn: v.Column, EndLine: v.EndLine, EndColumn: v.EndColumn},
			}}},
		})
	}
	return sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}}
}

func violationsOf(ans gateway.Answer) []gateway.Violation {
	if ans.Decision != nil {
		return ans.Decision.Violations
	}
	v := gateway.Violation{Rule: "syntax", Level: gateway.LevelError, Message: ans.Summary(), Title: "Text that does not parse", Line: 1, Column: 1}
	if p := ans.Result.Problem; p != nil {
		v.Line, v.Column = max(1, int(p.Line)), max(1, int(p.Column))
	}
	return []gateway.Violation{v}
}
