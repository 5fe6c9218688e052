package gateway

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/sluice-gateway/sluice/executor"
)

// Route is the way in which a submission came; it chooses the profile and the
// wall limit.
type Route string

// The routes.
const (
	RouteSolve Route = "solve"
	RouteRun   Route = "run"
	RouteTools Route = "tools"
	RouteCLI   Route = "cli"
)

// Caller is who asks. It is made by internal/auth from a request's header, or
// by the command line for itself; it never holds a token.
type Caller struct {
	Name    string   // for the journal and the policy
	Profile string   // empty: the route's default
	Scopes  []string // "solve", "run", "tools", "admin" …; "*" is all

	Concurrency int    // submissions at once; 0: as many as there is room for
	Quota       *Quota // how far the caller's rate is used, to be told; nil: it has none
}

// Quota is a rate, and how far it is used.
type Quota struct {
	Requests  int           // that may come at once
	Window    time.Duration // in which as many become free again
	Remaining int
	Reset     time.Duration // until all of them are free, if none comes
}

// May reports whether the caller's token covers scope.
func (c Caller) May(scope string) bool {
	for _, s := range c.Scopes {
		if s == scope || s == "*" {
			return true
		}
	}
	return false
}

// Request is one submission.
type Request struct {
	ID          string // request id, 1–128 characters of [A-Za-z0-9._-]
	Traceparent string // W3C trace context, empty: none
	Route       Route
	Caller      Caller
	Tool        string // a tool's name or alias, or a language's name
	Profile     string // Check only: which profile to ask; empty: as for Solve
	Code        []byte
	Stdin       []byte
	ValueWanted bool
	Asked       executor.Limits // what the caller asks for; zero fields: the defaults
	Cell        *Cell           // run it in a session of the caller's; nil: in none
}

// Decision is the policy's answer to one tree.
type Decision struct {
	ID         string
	Allow      bool
	Violations []Violation
	Limits     executor.Limits // lower than the ceiling where set; zero fields: unchanged
	Grants     []string
	Profile    string
	Revision   string
}

// Violation is one place where a program breaks a rule. Lines and columns count
// from 1, in characters.
type Violation struct {
	Rule      string `json:"rule"`
	Level     string `json:"level"`
	Message   string `json:"message"`
	Hint      string `json:"hint"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"end_line"`
	EndColumn int    `json:"end_column"`

	Title   string `json:"-"`
	URL     string `json:"-"`
	Subject string `json:"-"`
	More    int    `json:"-"` // further places that were cut
}

// Answer is what became of a submission: always an answer, never an error.
type Answer struct {
	Status   Status
	Decision *Decision // nil when the text did not parse
	Result   executor.Result
	Stdout   []byte // as kept, cut at the limit
	Stderr   []byte
	Limits   executor.Limits // those in force
	Plugin   PluginInfo
	Stages   Stages
	Session  string // id of the session it ran in; Result.SessionState says what became of that
}

// Stages is the time that each stage took.
type Stages struct{ Wait, Parse, Judge, Run time.Duration }

// PluginInfo names the plugin that served a submission.
type PluginInfo struct {
	Name            string
	Version         string
	LanguageVersion string
}

// Question is what the policy is asked about one tree.
type Question struct {
	Language string
	Tool     string
	Profile  string
	Caller   string
	Session  bool
	Source   executor.Source
	Tree     executor.Tree
}

// Policies gives the policy in force.
type Policies interface {
	// Current returns the policy in force, or ErrNoPolicy. A request uses one
	// Policy from its first stage to its last, whatever is put in force
	// meanwhile.
	Current() (Policy, error)
}

// Policy is one revision of the rules. Safe for concurrent use.
type Policy interface {
	// Revision names the rules, for answers and the journal.
	Revision() string
	// Sections lists the parts of a language's tree document that the rules
	// read; nil means all. ErrNoPolicy when there are no rules for language.
	Sections(language string) ([]string, error)
	// Decide judges a tree. An error is never a refusal of the program: it is
	// ErrUnknownProfile, or a fault of the policy (wraps ErrPolicyFault).
	// Nothing may run after an error.
	Decide(ctx context.Context, q Question) (Decision, error)
}

// Executors finds the plugin behind a tool. Safe for concurrent use.
type Executors interface {
	// Find returns the target behind a tool's name, alias or language, or
	// ErrUnknownTool. It does not say that the plugin is up.
	Find(tool string) (Target, error)
	// Targets lists every tool, in the order of its name.
	Targets() []Target
}

// Target is a tool of a plugin that is registered.
type Target interface {
	Tool() executor.Tool
	Language() executor.Language
	Plugin() PluginInfo
	// Submit sends the text and waits until it is parsed. Errors:
	// ErrPluginDown when no process is there in time, ErrPluginDied when it
	// died (before a verdict it has been tried once more already),
	// ErrPluginFault for a breach of the contract, or ctx's own.
	Submit(ctx context.Context, src executor.Source) (Submission, error)
}

// Submission is a text that a plugin has parsed and that waits for a verdict.
// It is used by one goroutine and must be closed.
type Submission interface {
	// Tree is what the plugin showed, its digest verified.
	Tree() executor.Tree
	// Ended is the result of a submission that ended before a verdict (it does
	// not parse, say); nil when a verdict is awaited.
	Ended() *executor.Result
	// Run approves the tree and waits for the end. out is called in order, from
	// one goroutine at a time, and must not keep chunk. When ctx ends, the run
	// is stopped softly, then hard, and the result so far comes back with
	// StatusCancelled. Errors as for Submit; what was printed has been handed
	// to out.
	Run(ctx context.Context, g executor.Grant, out func(s executor.Stream, chunk []byte)) (executor.Result, error)
	// Deny refuses the tree; the plugin forgets it.
	Deny(decisionID string, reasons []string)
	// Close frees the slot and the child, whatever the state.
	Close()
}

// Journal writes down what was decided. Record must not block for long. It may
// keep the entry, which nobody changes any more.
type Journal interface {
	Record(e Entry)
}

// Entry is one line of the journal.
type Entry struct {
	Time        time.Time
	RequestID   string
	Traceparent string
	Caller      string
	Route       Route
	Tool        string
	Language    string // empty: the tool was not found
	Plugin      string
	CodeSHA256  [32]byte
	CodeBytes   int
	Session     string    // short digest of the session's id; empty: none
	State       string    // what became of the session
	Decision    *Decision // nil: not judged
	Shadow      *Shadow   // what a profile that is not in force says; nil: none was asked
	Status      Status    // empty: ended in Fault
	Fault       string    // class of the error, never its text
	Stages      Stages
	Usage       executor.Usage
	Code        []byte // only when source is recorded, by the operator's wish
}

// Config is what a Gateway is made of.
type Config struct {
	Executors Executors
	Policies  Policies
	Journal   Journal
	Log       *slog.Logger
	Now       func() time.Time

	Limits       Limits
	Sessions     SessionLimits
	Profiles     map[Route]string
	RecordSource bool
}

// Limits are the operator's bounds.
type Limits struct {
	CodeBytes    int
	Concurrency  int
	Queue        int
	QueueWait    time.Duration
	QueueTarget  time.Duration // while a queue stands: refuse who would wait longer than this and than three runs; 0: QueueWait alone
	ToolWall     time.Duration // RouteTools, instead of Default.Wall
	WallCeiling  time.Duration
	ParseWall    time.Duration
	MaxTreeBytes uint64
	Default      executor.Limits
}

// Settings are what of a Config may change while it serves.
type Settings struct {
	// Default and ToolWall are those of Limits; memory and scratch files are not
	// changed, because slots and sessions were made by them.
	Default  executor.Limits
	ToolWall time.Duration
	Profiles map[Route]string
}

// Gateway is the corridor. Safe for concurrent use.
type Gateway struct {
	cfg      Config
	settings atomic.Pointer[Settings]
	slots    *slots
	sessions *registry
	shadows  *shadows
}

// New makes a Gateway; cfg's ports must all be set.
func New(cfg Config) *Gateway {
	g := &Gateway{
		cfg: cfg, slots: newSlots(cfg.Limits, cfg.Now), sessions: newRegistry(cfg.Sessions, cfg.Now),
		shadows: newShadows(cfg.Journal),
	}
	g.Change(Settings{Default: cfg.Limits.Default, ToolWall: cfg.Limits.ToolWall, Profiles: cfg.Profiles})
	return g
}

// Change puts settings in force for the requests that come from now on.
func (g *Gateway) Change(s Settings) {
	s.Default.MemoryBytes, s.Default.ScratchBytes = g.cfg.Limits.Default.MemoryBytes, g.cfg.Limits.Default.ScratchBytes
	g.settings.Store(&s)
}
