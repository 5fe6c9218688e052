package plugins_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sluice-gateway/sluice/internal/front/admin/plugins"
	"github.com/sluice-gateway/sluice/internal/pluginhost"
)

// empty has no plugin.
type empty struct{ plugins.Host }

func (empty) Status() []pluginhost.PluginStatus     { return nil }
func (empty) Log(string) (string, error)            { return "", pluginhost.ErrUnknown }
func (empty) Disable(context.Context, string) error { return pluginhost.ErrUnknown }
func (empty) Release(string) error                  { return pluginhost.ErrUnknown }

// refusing takes no order.
type refusing struct{}

func (refusing) Reload(context.Context, string) ([]pluginhost.Swap, error) {
	return nil, errors.New("the new process does not start")
}
func (refusing) Enable(context.Context, string) ([]pluginhost.Swap, error) {
	return nil, pluginhost.ErrUnknown
}

// TestErrors: they have the form of every error, with the request's id.
func TestErrors(t *testing.T) {
	mux := http.NewServeMux()
	for pattern, handler := range plugins.Routes(empty{}, refusing{}, slog.New(slog.DiscardHandler)) {
		mux.Handle(pattern, handler)
	}
	for ask, want := range map[string]int{
		"GET /admin/plugins/nobody": 404, "GET /admin/plugins/nobody/log": 404, "POST /admin/plugins/nobody/reload": 409,
		"POST /admin/plugins/nobody/enable": 404, "POST /admin/plugins/nobody/disable": 404, "POST /admin/plugins/nobody/release": 404,
	} {
		method, path, _ := strings.Cut(ask, " ")
		w := httptest.NewRecorder()
		w.Header().Set("X-Request-Id", "id-of-the-listener")
		mux.ServeHTTP(w, httptest.NewRequest(method, path, http.NoBody))
		var body map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
			t.Fatalf("%s: %q: %v", ask, w.Body, err)
		}
		if w.Code != want || body["status"] != float64(want) || body["request_id"] != "id-of-the-listener" || body["detail"] == "" || body["title"] != http.StatusText(want) || len(body) != 4 {
			t.Errorf("%s: answered %d %v, want %d", ask, w.Code, body, want)
		}
	}
}
