package upstream

import "path"

// The parts of SARIF 2.1.0 that code scanners read.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string    `json:"id"`
		Short sarifText `json:"shortDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID     string          `json:"ruleId"`
		Level      string          `json:"level"`
		Message    sarifText       `json:"message"`
		Locations  []sarifLocation `json:"locations"`
		Properties map[string]any  `json:"properties,omitempty"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
)

// sarif shows the findings, each at its line in the policy folder dir.
func (r *Report) sarif(dir string) sarifLog {
	run := sarifRun{Tool: sarifTool{sarifDriver{Name: "vendor-sync", Rules: []sarifRule{}}}, Results: []sarifResult{}}
	known := map[string]bool{}
	for _, f := range r.Findings {
		if !known[f.Kind] {
			known[f.Kind] = true
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{f.Kind, sarifText{kindText(f.Kind)}})
		}
		file := f.File
		if file == "" {
			file = PinFile
		}
		run.Results = append(run.Results, sarifResult{
			RuleID: f.Kind, Level: f.Level, Message: sarifText{f.Message},
			Locations:  []sarifLocation{{sarifPhysical{sarifArtifact{path.Join(dir, file)}, sarifRegion{max(f.Line, 1)}}}},
			Properties: f.properties(),
		})
	}
	return sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}}
}

func (f Finding) properties() map[string]any {
	out := map[string]any{}
	for key, value := range map[string]string{
		"upstream": f.Upstream, "profile": f.Profile, "list": f.List, "entry": f.Entry, "when": f.When, "rule": f.Rule, "reason": f.Reason,
	} {
		if value != "" {
			out[key] = value
		}
	}
	return out
}

func kindText(kind string) string {
	switch kind {
	case KindLooser:
		return "The policy lets pass what its upstream refuses"
	case KindStricter:
		return "The policy refuses what its upstream lets pass"
	case KindExcepted:
		return "A difference that is argued in upstream.yaml"
	case KindException:
		return "An exception that no longer applies"
	case KindOverdue:
		return "An exception whose date is over"
	case KindUnverified:
		return "A file of an upstream that was never fetched"
	case KindReview:
		return "The policy changed since it was last reviewed"
	case KindAnnotation:
		return "The policy names another pin than upstream.yaml"
	case KindCommit:
		return "The pinned commit is not in the source"
	case KindMismatch:
		return "A file of the upstream is not what is recorded"
	case KindMoved:
		return "The upstream went on"
	}
	return "What the source shows"
}
