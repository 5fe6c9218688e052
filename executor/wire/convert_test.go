package wire

import (
	"encoding/json"
	"testing"
)

// sameJSON compares values by their JSON form, in which nil and empty lists of
// omitted fields are told apart only where a test looks.
func sameJSON(t *testing.T, got, want any) {
	t.Helper()
	g, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	w, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if string(g) != string(w) {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
}
