package rest

import (
	_ "embed"
	"net/http"
	"strings"

	json "github.com/go-json-experiment/json"
)

type description struct {
	Name      string   `json:"name"`
	Version   string   `json:"version"`
	Endpoints []string `json:"endpoints"`
}

// index lists the routes. Without a token it tells no configuration.
func (s *server) index(x *exchange) error {
	d := description{Name: "Sluice", Version: s.cfg.Version}
	for _, r := range s.routes {
		if r.method != "" && !r.secret {
			d.Endpoints = append(d.Endpoints, r.method+" "+strings.TrimSuffix(r.path, "{$}"))
		}
	}
	x.json(http.StatusOK, d)
	return nil
}

type state struct {
	Status string `json:"status"`
}

func health(x *exchange) error {
	x.json(http.StatusOK, state{"ok"})
	return nil
}

func (s *server) ready(x *exchange) error {
	if s.cfg.Ready() {
		x.json(http.StatusOK, state{"ready"})
	} else {
		x.json(http.StatusServiceUnavailable, state{"not ready"})
	}
	return nil
}

//go:embed openapi.json
var openAPIDocument string

func (s *server) document(x *exchange) error {
	x.send(http.StatusOK, "application/json", s.openAPI)
	return nil
}

// openAPI is the document, with the version that runs.
func openAPI(version string) []byte {
	quoted, err := json.Marshal(version)
	if err != nil {
		quoted = []byte(`"unknown"`)
	}
	return []byte(strings.Replace(openAPIDocument, `"{version}"`, string(quoted), 1))
}
