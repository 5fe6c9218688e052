package executor

import (
	"context"
	"crypto/sha256"
	"io"
	"time"
)

// Executor runs programs of one or more languages. Its methods may be called
// from several goroutines at once.
type Executor interface {
	// Describe says what the plugin is. It is pure, answers at once, gives the
	// same answer for the life of the process, and is called before Configure.
	Describe() Description

	// Parse turns text into a Program without running any of it. A
	// *CompileError is the author of the text's fault (COMPILE_ERROR);
	// ErrTreeTooLarge, ErrWall, ErrMemory and ErrOverloaded are told as such;
	// any other error is the plugin's own fault and is not shown to callers.
	// ctx ends when the parse limit is over or the caller is gone. An executor
	// with FeatureParseWait gets ParseWait more, see there.
	Parse(ctx context.Context, src Source) (Program, error)
}

// Program is one parsed submission. The SDK calls Tree, then Run at most once
// and only after a verdict that approves exactly that tree, then Close, always.
type Program interface {
	// Tree is what the policy judges. It must be the same for the same text.
	Tree() Tree

	// Run executes the program that Tree shows. ctx ends at the wall limit
	// (context.Cause is ErrWall), at the output ceiling (ErrOutput), or when
	// the run is cancelled (ErrCancelled). Run must return soon after.
	//
	// A zero Result.Status means OK. Errors of this package (ErrWall,
	// *RuntimeError, …) set the status; an error that is none of them is the
	// plugin's own fault (INTERNAL) and its text goes to the log alone.
	// Result's stream counts are filled in by the SDK.
	Run(ctx context.Context, g Grant, out Output) (Result, error)

	// Close frees what Parse took. It is called exactly once.
	Close() error
}

// Output is where a running program's output goes. Write never fails at a cap:
// a program cannot see where the cap is. Safe for concurrent use.
type Output interface {
	Stdout() io.Writer
	Stderr() io.Writer
	// Artifact hands over a product beside the text, such as a figure. It
	// fails when the artifacts of this run exceed Limits.ArtifactBytes.
	Artifact(mediaType, name string, data []byte) error
}

// Stream tells standard output from standard error.
type Stream uint8

// The streams.
const (
	Stdout Stream = iota + 1
	Stderr
)

// Configurer is implemented by executors that take settings. Configure is
// called exactly once, after Describe and before anything else.
type Configurer interface {
	Configure(ctx context.Context, c Config) (warnings []string, err error)
}

// HealthChecker is implemented by executors that can tell whether a submission
// sent now would run. With deep set it runs a self test.
type HealthChecker interface {
	CheckHealth(ctx context.Context, deep bool) error
}

// Config is what the gateway hands to Configurer.Configure.
type Config struct {
	JSON     []byte            // the plugin's config section, an object; validated against Description.ConfigSchema
	StateDir string            // private, empty, mode 0700; removed after the plugin's exit
	LogLevel string            // trace, debug, info, warn or error
	Secrets  map[string][]byte // never in the environment, never logged
}

// Source is a submission's text and what the gateway wants to know of it.
type Source struct {
	ID           string // the submission's id: request id or session cell id
	Language     string // Language.ID
	Tool         string // Tool.Name, or a language's name
	Code         []byte
	SessionID    string // empty: stateless
	Stdin        []byte
	Sections     []string // parts of the tree document that the policy reads; nil: all
	ValueWanted  bool     // the last expression's value is wanted as text
	MaxTreeBytes uint64   // 0: the plugin's own maximum
	ParseLimits  Limits
	Labels       map[string]string // trace ids; never secrets
	VerdictWait  time.Duration     // without a verdict by then: CANCELLED; 0: 30 s
	JudgeOnly    bool              // no verdict will ever approve it: Parse may show the text beside others, in one process
}

// Digest is the SHA-256 of the submission's text.
func (s Source) Digest() [sha256.Size]byte { return sha256.Sum256(s.Code) }

// Tree is the syntax tree as the policy sees it: one JSON object.
type Tree struct {
	Schema string // "pyast/1": names the JSON Schema that JSON follows
	JSON   []byte
	Nodes  uint32
	Depth  uint32
}

// Digest binds a verdict to this tree.
func (t Tree) Digest() [sha256.Size]byte { return sha256.Sum256(t.JSON) }

// Grant is what an approving verdict allows.
type Grant struct {
	Limits     Limits
	Grants     []string // "import:numpy", "import:*", "builtin:print", "builtin:*"
	DecisionID string
}

// Limits bound one submission. A zero means "not limited by this field", and
// the plugin's own default holds.
type Limits struct {
	Wall               time.Duration // from the verdict to the end
	CPU                time.Duration // user and system time
	MemoryBytes        uint64        // what the program may use beyond the runtime itself
	StdoutBytes        uint64        // kept; the rest is counted as omitted
	StderrBytes        uint64        // kept; the rest is counted as omitted
	OutputCeilingBytes uint64        // both streams together; beyond it the program is stopped
	ScratchBytes       uint64        // private temporary files
	ArtifactBytes      uint64        // all artifacts together
	Processes          uint32        // beyond the program itself
	Threads            uint32
}

// Result is how a submission ended.
type Result struct {
	Status        Status
	Value         string // text of the last expression; empty: none (see HasValue)
	HasValue      bool
	Problem       *Problem
	Artifacts     []Artifact // on the host's side; a plugin hands them to Output
	Usage         Usage
	ExitCode      int32
	Signal        string // "SIGSEGV" when a signal ended the program
	ForbiddenCall string // the system call that ended the program
	StdoutBytes   uint64 // written by the program
	StderrBytes   uint64
	StdoutOmitted uint64 // of those, not kept
	StderrOmitted uint64
	LimitFired    string // "wall", "cpu", "memory", "stdout_bytes", "output_ceiling_bytes", "plotly_bytes" …
	SessionState  string // "", "new", "kept", "rolled_back" or "lost"
	Walls         []string
	Notes         []string // for the caller: what was left out, such as a figure over its bound
}

// Problem says what was wrong with a program, in the program's own terms.
type Problem struct {
	Type    string // "SyntaxError"
	Message string
	Line    uint32 // from 1; 0: unknown
	Column  uint32 // from 1, in characters; 0: unknown
	Trace   string // submitted frames only, no host paths
}

// Artifact is a product beside the text.
type Artifact struct {
	MediaType string // "application/vnd.plotly.v1+json"
	Name      string
	Data      []byte
}

// Usage is what a run cost, measured outside the program.
type Usage struct {
	Wall, CPU, Parse time.Duration
	MaxRSSBytes      uint64
}

// Prog is a ready-made Program for executors whose parser and interpreter live
// in the plugin's own process.
type Prog struct {
	Doc Tree
	Do  func(ctx context.Context, g Grant, out Output) (Result, error)
}

// Tree implements Program.
func (p *Prog) Tree() Tree { return p.Doc }

// Run implements Program.
func (p *Prog) Run(ctx context.Context, g Grant, out Output) (Result, error) {
	return p.Do(ctx, g, out)
}

// Close implements Program.
func (p *Prog) Close() error { return nil }
