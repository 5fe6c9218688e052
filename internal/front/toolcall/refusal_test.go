package toolcall

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// Every error has a status of HTTP and, where it is not ours, something to say;
// what is in no row is our fault and says nothing.
func TestRefusals(t *testing.T) {
	for _, row := range table(65536) {
		got := RefusalFor(fmt.Errorf("do it: %w", row.err), 65536)
		if http.StatusText(got.Status) == "" || (got.Detail == "") != (got.Status == http.StatusInternalServerError) {
			t.Errorf("%v: %+v", row.err, got)
		}
		if got.Status == http.StatusServiceUnavailable && got.Retry == 0 {
			t.Errorf("%v: 503 that does not say when", row.err)
		}
	}
	if got := RefusalFor(gateway.ErrTooLarge, 65536); !strings.Contains(got.Detail, "at most 64 KiB") {
		t.Errorf("too large: %+v", got)
	}
	if got := RefusalFor(errors.New("/secret/path"), 1); got != (Refusal{Status: http.StatusInternalServerError}) {
		t.Errorf("an error of ours: %+v", got)
	}
	if got := RefusalFor(&gateway.InvalidError{Field: "code", Reason: "is missing"}, 1); got.Status != 422 || got.Detail != "code: is missing" {
		t.Errorf("a wrong shape: %+v", got)
	}
}
