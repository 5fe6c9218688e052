// Package plugins shows executor plugins to operators, and takes their orders:
// GET /admin/plugins and what lies below it.
//
// Begin with [Routes], which the admin listener serves behind its own guard. The
// package must never show a plugin's settings or secrets, read the configuration
// itself, or answer a failed order with success.
package plugins

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/pluginhost"
)

// Host is who has the plugins.
type Host interface {
	Status() []pluginhost.PluginStatus
	About(name string) (executor.Description, bool)
	Log(name string) (string, error)
	Disable(ctx context.Context, name string) error
	Release(name string) error
}

// Orders are those that need the configuration as it stands now.
type Orders interface {
	// Reload exchanges a plugin's processes, by the configuration read anew.
	Reload(ctx context.Context, name string) ([]pluginhost.Swap, error)
	// Enable starts a plugin that is disabled, or new in the configuration.
	Enable(ctx context.Context, name string) ([]pluginhost.Swap, error)
}

type server struct {
	host   Host
	orders Orders
	log    *slog.Logger
}

// orderTime bounds an order: a start, and the drain of what was before.
const orderTime = 150 * time.Second

// Routes are the handlers, by pattern of net/http. They are safe for concurrent
// use.
func Routes(host Host, orders Orders, log *slog.Logger) map[string]http.Handler {
	s := &server{host: host, orders: orders, log: log}
	return map[string]http.Handler{
		"GET /admin/plugins":                 http.HandlerFunc(s.list),
		"GET /admin/plugins/{name}":          http.HandlerFunc(s.info),
		"GET /admin/plugins/{name}/log":      http.HandlerFunc(s.words),
		"POST /admin/plugins/{name}/reload":  s.order("reload", orders.Reload),
		"POST /admin/plugins/{name}/enable":  s.order("enable", orders.Enable),
		"POST /admin/plugins/{name}/disable": s.order("disable", func(ctx context.Context, name string) ([]pluginhost.Swap, error) { return nil, host.Disable(ctx, name) }),
		"POST /admin/plugins/{name}/release": s.order("release", func(_ context.Context, name string) ([]pluginhost.Swap, error) { return nil, host.Release(name) }),
	}
}

// Process is one process of a plugin, as GET /admin/plugins shows it.
type Process struct {
	Name      string     `json:"name"` // of the section in the configuration
	Instance  int        `json:"instance"`
	Plugin    string     `json:"plugin"` // as it calls itself; empty: it was not up yet
	Version   string     `json:"version"`
	State     string     `json:"state"`
	Why       string     `json:"why,omitempty"`
	PID       int        `json:"pid"`
	Since     time.Time  `json:"since"` // it is in that state
	Restarts  int        `json:"restarts"`
	Inflight  int        `json:"inflight"`
	LastEnd   string     `json:"last_end,omitempty"` // why the latest process that failed did
	EndedAt   *time.Time `json:"ended_at,omitempty"`
	LastWords string     `json:"last_words,omitempty"` // GET /admin/plugins/{name} alone
}

// Listing is the answer of GET /admin/plugins.
type Listing struct {
	Plugins []Process `json:"plugins"`
}

// Info is the answer of GET /admin/plugins/{name}.
type Info struct {
	Processes   []Process    `json:"processes"`
	Description *Description `json:"description"` // null: it was not up yet
	Walls       []Wall       `json:"walls"`       // around the plugin itself
	Warnings    []string     `json:"warnings"`
}

// Wall is one wall around a plugin's process.
type Wall struct {
	Name    string `json:"name"`
	InForce bool   `json:"in_force"`
	Why     string `json:"why,omitempty"`
}

// Description is what a plugin says of itself.
type Description struct {
	SHA256    string             `json:"sha256"` // the value of plugins.NAME.description_sha256
	Languages []Language         `json:"languages"`
	Tools     []Tool             `json:"tools"`
	Libraries []executor.Library `json:"libraries"`
	Capacity  executor.Capacity  `json:"capacity"`
	Features  []string           `json:"features"`
	Build     string             `json:"build,omitempty"`
	Settings  json.RawMessage    `json:"settings_schema,omitempty"`
}

// Language is one language of a plugin.
type Language struct {
	ID         string `json:"id"`
	Version    string `json:"version"`
	TreeSchema string `json:"tree_schema"`
}

// Tool is one tool of a plugin.
type Tool struct {
	Name     string   `json:"name"`
	Aliases  []string `json:"aliases,omitempty"`
	Language string   `json:"language"`
	Stateful bool     `json:"stateful"`
}

// Done is the answer to an order that was carried out.
type Done struct {
	Name  string            `json:"name"`
	Done  string            `json:"done"` // reload, enable, disable or release
	Swaps []pluginhost.Swap `json:"swaps"`
}

func processOf(s pluginhost.PluginStatus) Process {
	p := Process{
		Name: s.Name, Instance: s.Instance, Plugin: s.Plugin, Version: s.Version, State: string(s.State), Why: s.Why, PID: s.PID,
		Since: s.Since, Restarts: s.Restarts, Inflight: s.Inflight, LastEnd: s.LastEnd,
	}
	if !s.EndedAt.IsZero() {
		p.EndedAt = &s.EndedAt
	}
	return p
}

func (s *server) list(w http.ResponseWriter, _ *http.Request) {
	out := Listing{Plugins: []Process{}}
	for _, st := range s.host.Status() {
		out.Plugins = append(out.Plugins, processOf(st))
	}
	s.answer(w, http.StatusOK, out)
}

func (s *server) info(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	out := Info{Processes: []Process{}, Walls: []Wall{}, Warnings: []string{}}
	for _, st := range s.host.Status() {
		if st.Name != name {
			continue
		}
		p := processOf(st)
		p.LastWords = st.LastWords
		out.Processes = append(out.Processes, p)
		out.Warnings = append(out.Warnings, st.Warnings...)
		if len(out.Walls) == 0 {
			for _, wall := range st.Walls {
				out.Walls = append(out.Walls, Wall{Name: wall.Name, InForce: wall.InForce, Why: wall.Why})
			}
		}
	}
	if len(out.Processes) == 0 {
		s.refuse(w, http.StatusNotFound, pluginhost.ErrUnknown)
		return
	}
	if about, up := s.host.About(name); up {
		out.Description = describe(about)
	}
	s.answer(w, http.StatusOK, out)
}

func describe(d executor.Description) *Description {
	out := &Description{
		SHA256: pluginhost.DescriptionDigest(d), Libraries: d.Libraries, Capacity: d.Capacity, Features: d.Features, Build: d.Build,
		Languages: []Language{}, Tools: []Tool{},
	}
	if json.Valid(d.ConfigSchema) {
		out.Settings = d.ConfigSchema
	}
	for _, l := range d.Languages {
		out.Languages = append(out.Languages, Language{ID: l.ID, Version: l.Version, TreeSchema: l.TreeSchema})
	}
	for _, t := range d.Tools {
		out.Tools = append(out.Tools, Tool{Name: t.Name, Aliases: t.Aliases, Language: t.Language, Stateful: t.Stateful})
	}
	return out
}

// words is plain text, bounded by what the host keeps.
func (s *server) words(w http.ResponseWriter, r *http.Request) {
	text, err := s.host.Log(r.PathValue("name"))
	if err != nil {
		s.refuse(w, http.StatusNotFound, err)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(text)) // an error here is a caller who went away
}

func (s *server) order(verb string, do func(ctx context.Context, name string) ([]pluginhost.Swap, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("name")
		// An order that was begun is carried out, whoever waits for it.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), orderTime)
		defer cancel()
		swaps, err := do(ctx, name)
		switch {
		case errors.Is(err, pluginhost.ErrUnknown):
			s.refuse(w, http.StatusNotFound, err)
		case err != nil:
			s.log.Warn("an operator's order was not carried out", "request_id", requestID(w), "order", verb, "plugin", name, "error", err)
			s.refuse(w, http.StatusConflict, err)
		default:
			s.log.Info("an operator's order was carried out", "request_id", requestID(w), "order", verb, "plugin", name)
			s.answer(w, http.StatusOK, Done{Name: name, Done: verb, Swaps: append([]pluginhost.Swap{}, swaps...)})
		}
	})
}

// requestID is the id that the admin listener gave the request.
func requestID(w http.ResponseWriter) string { return w.Header().Get("X-Request-Id") }

func (s *server) refuse(w http.ResponseWriter, status int, err error) {
	s.answer(w, status, map[string]any{
		"detail": err.Error(), "request_id": requestID(w), "status": status, "title": http.StatusText(status),
	})
}

func (s *server) answer(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		s.log.Error("encode an admin answer", "request_id", requestID(w), "error", err)
		status, text = http.StatusInternalServerError, []byte(`{}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // an error here is a caller who went away
}
