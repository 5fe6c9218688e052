package policy

import (
	"errors"
	"fmt"
	"testing"

	"github.com/sluice-gateway/sluice/executor"
)

func TestLimitNames(t *testing.T) {
	for _, name := range limitNames() {
		if err := setLimit(&executor.Limits{}, name, 1); err != nil {
			t.Error(err)
		}
	}
}

func TestFaultsAreTakenApart(t *testing.T) {
	err := fmt.Errorf("language %q: %w", "python", errors.Join(
		located(nil, "no place"),
		fmt.Errorf("b.rego:7: %w", errors.New("seven")),
		fmt.Errorf("corpus/deny/x.y: %w", &lineError{3, errors.New("three: x")}),
	))
	got := loadError(err)
	want := []Fault{
		{File: "b.rego", Line: 7, Message: `language "python": seven`},
		{File: "corpus/deny/x.y", Line: 3, Message: `language "python": three: x`},
		{Message: `language "python": no place`},
	}
	if len(got.Faults) != len(want) {
		t.Fatalf("%+v", got.Faults)
	}
	for i, f := range got.Faults {
		if f != want[i] {
			t.Errorf("%+v, want %+v", f, want[i])
		}
	}
	if !errors.Is(got, err) {
		t.Error("the cause is lost")
	}
	if nearest("nmaes", []string{"names", "paths"}) != "names" || nearest("zzz", []string{"names"}) != "" {
		t.Error("nearest names")
	}
}
