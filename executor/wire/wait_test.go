package wire

import (
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
)

// TestParseWait: an executor that holds the parse limit itself may wait before
// it begins; neither half of the kit counts that.
func TestParseWait(t *testing.T) {
	src := source("parsedeaf 700")
	src.ParseLimits.Wall = 50 * time.Millisecond
	for name, tc := range map[string]struct {
		features []string
		ended    bool
	}{
		"the kit's": {nil, true},
		"its own":   {[]string{executor.FeatureParseWait}, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := serve(t, &stub{features: tc.features})
			s, err := p.Client.Submit(t.Context(), src)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if ended := s.Ended(); (ended != nil) != tc.ended {
				t.Errorf("ended %+v", ended)
			}
		})
	}
	about := &executor.Description{Features: []string{executor.FeatureParseWait}}
	if plain, waiting := parseTime(nil, src), parseTime(about, src); plain != src.ParseLimits.Wall || waiting != plain+executor.ParseWait {
		t.Errorf("times of Parse: %v and %v", plain, waiting)
	}
}
