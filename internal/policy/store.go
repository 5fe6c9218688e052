package policy

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// admitAll is the profile of a policy that admits everything.
const admitAll = "admit-all"

// Config is what a Store is made of. FS is needed; Parse is needed unless
// SkipCorpus is set.
type Config struct {
	// FS is the policies folder: main.rego at its root.
	FS fs.FS
	// Languages are what the plugins describe, with the schemas of their
	// documents. A schema in the folder serves a language whose plugin sends
	// none, or is not there.
	Languages []executor.Language
	// Parse has a plugin parse a program of the corpus. A result says that the
	// text did not parse. It is called from up to Workers goroutines.
	Parse func(ctx context.Context, language string, code []byte, sections []string) (executor.Tree, *executor.Result, error)
	// SkipCorpus leaves out the run of the corpus, for a folder that was
	// proved when the program was built.
	SkipCorpus bool
	// Needed lists the profiles that routes and tokens name, by who does. A
	// profile that is not there is warned of; one that is in force is not taken
	// away from those who name it. It is asked at each load; nil: none are named.
	Needed func() map[string]string
	// Tested is a folder whose whole corpus was judged when this program was
	// built; nil: none was. FS, where it is the same file by file, is put in
	// force after the first part of the corpus: see firstPart and ProveRest.
	Tested fs.FS
	// Workers bounds how many programs of the corpus are parsed at once; 0: 4.
	Workers int
	// Deadline bounds one decision; 0: 1 s.
	Deadline time.Duration
	// MaxDocumentBytes bounds a plugin's document; 0: 16 MiB.
	MaxDocumentBytes int
	// Log is told of loads, faults of a load, and a policy that admits all;
	// nil: nobody is.
	Log *slog.Logger
	// Now is the clock; nil: time.Now.
	Now func() time.Time
	// NewID names decisions; nil: 16 random hexadecimal digits after "d_".
	NewID func() string

	step time.Duration // for a step of a load; 0: stepPatience
}

// Status is what a Store has in force, for operators.
type Status struct {
	Revision  string              `json:"revision"`   // empty: none is in force
	Digest    string              `json:"digest"`     // SHA-256 of what decides, hexadecimal
	AdmitsAll bool                `json:"admits_all"` // the policy says that it admits everything
	Profiles  []string            `json:"profiles"`   // sorted
	Sections  map[string][]string `json:"sections"`   // by language; nil: all
	Rules     map[string][]Rule   `json:"rules"`      // by language, sorted by id
	Warnings  []string            `json:"warnings"`   // of the load, such as a rule that no program of the corpus breaks
	LoadedAt  time.Time           `json:"loaded_at,omitzero"`
	Corpus    int                 `json:"corpus"` // programs that were judged to prove the revision

	LastError   string    `json:"last_error"` // of the last load, with file:line where it has one; empty: it was good
	LastErrorAt time.Time `json:"last_error_at,omitzero"`
	Loads       uint64    `json:"loads"`        // that were put in force since the start
	FailedLoads uint64    `json:"failed_loads"` // that were not

	Slow   uint64 `json:"slow_decisions"` // decisions above 100 ms since the start
	Faults uint64 `json:"policy_faults"`  // decisions that ended in a policy fault since the start
}

// Store keeps the policy in force. Safe for concurrent use.
type Store struct {
	cfg     Config
	host    *host
	current atomic.Pointer[revision]
	trees   *trees // of the corpus

	loading sync.Mutex // one load at a time

	mu        sync.Mutex // guards what follows
	seen      string     // what the folder held when it was last loaded
	begun     uint64     // loads
	inForce   uint64     // which of them current is
	good      uint64     // loads that were put in force
	failed    uint64     // loads that found a fault
	lastErr   error
	lastErrAt time.Time
}

// host is what a revision needs of its Store.
type host struct {
	deadline time.Duration
	growth   uint64
	now      func() time.Time
	newID    func() string
	slow     atomic.Uint64
	faults   atomic.Uint64
}

// Load makes a Store and loads cfg.FS once. The Store is usable whatever the
// error: it then has no policy in force, and Current says so, until a Reload
// is good.
func Load(ctx context.Context, cfg Config) (*Store, error) {
	cfg = withDefaults(cfg)
	s := &Store{cfg: cfg, trees: newTrees(), host: &host{deadline: cfg.Deadline, growth: maxGrowth, now: cfg.Now, newID: cfg.NewID}}
	err := s.Reload(ctx)
	s.cfg.Tested = nil // of the start alone: nobody waits for a reload, which proves all
	return s, err
}

func withDefaults(cfg Config) Config {
	if cfg.Workers <= 0 {
		cfg.Workers = 4
	}
	if cfg.Deadline <= 0 {
		cfg.Deadline = time.Second
	}
	if cfg.step <= 0 {
		cfg.step = stepPatience
	}
	if cfg.MaxDocumentBytes <= 0 {
		cfg.MaxDocumentBytes = 16 << 20
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.NewID == nil {
		cfg.NewID = newID
	}
	return cfg
}

func newID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the process instead
	return "d_" + hex.EncodeToString(b[:])
}

// Reload reads the folder again. When every check holds the new revision is
// put in force at once; on any fault the one before it stays, and the error
// says what is wrong, with file:line where there is one.
func (s *Store) Reload(ctx context.Context) error {
	commit, _, err := s.Prepare(ctx)
	if err == nil {
		commit()
	}
	return err
}

// Prepare is Reload in two steps, for what is put in force together with
// something else or not at all: it reads and proves the folder and changes
// nothing. commit puts in force what was proved, unless a load that was begun
// later was quicker; it need not be called. what tells the change, and is empty
// when there is none.
func (s *Store) Prepare(ctx context.Context) (commit func(), what string, err error) {
	s.loading.Lock()
	defer s.loading.Unlock()
	s.mu.Lock()
	s.begun++
	number := s.begun
	s.seen = contents(s.cfg.FS)
	s.mu.Unlock()
	r, err := s.load(ctx)
	if ctx.Err() != nil {
		return nil, "", fmt.Errorf("reload: %w", context.Cause(ctx)) // somebody asked for that: no fault of the policy
	}
	if err != nil {
		err = loadError(err)
		s.fail(err)
		return nil, "", err
	}
	if before := s.current.Load(); before == nil || before.digest != r.digest {
		what = s.revisionName() + " → " + r.name
	}
	return func() { s.put(r, number) }, what, nil
}

// Changed says whether the folder holds something else than when it was last
// loaded, or tried to be.
func (s *Store) Changed() bool {
	now := contents(s.cfg.FS)
	s.mu.Lock()
	defer s.mu.Unlock()
	return now != s.seen
}

func (s *Store) fail(err error) {
	s.mu.Lock()
	s.failed++
	s.lastErr, s.lastErrAt = err, s.cfg.Now()
	s.mu.Unlock()
	s.cfg.Log.Error("policy is not put in force", "error", err, "kept", s.revisionName())
}

func (s *Store) put(r *revision, number uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if number < s.inForce {
		return
	}
	s.inForce = number
	s.good++
	s.lastErr, s.lastErrAt = nil, time.Time{}
	s.current.Store(r)
	s.announce(r)
}

func (s *Store) announce(r *revision) {
	s.cfg.Log.Info("policy in force", "revision", r.name, "digest", r.digest, "corpus", r.judged.Load(), "left_for_later", r.left != nil, "sections", r.sections())
	for _, w := range slices.Concat(r.warnings, r.profiles.ending(s.cfg.Now())) {
		s.cfg.Log.Warn("policy: " + w)
	}
	if r.admitsAll {
		s.cfg.Log.Warn("THE POLICY ADMITS EVERY PROGRAM: the walls alone stand between a program and this host", "profile", admitAll)
	}
}

func (s *Store) revisionName() string {
	if r := s.current.Load(); r != nil {
		return r.name
	}
	return ""
}

// Current implements gateway.Policies.
func (s *Store) Current() (gateway.Policy, error) {
	r := s.current.Load()
	if r == nil {
		return nil, gateway.ErrNoPolicy
	}
	return r, nil
}

// Status tells what is in force and how the last load went.
func (s *Store) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Status{Slow: s.host.slow.Load(), Faults: s.host.faults.Load(), Loads: s.good, FailedLoads: s.failed}
	if r := s.current.Load(); r != nil {
		r.describe(&st)
	}
	if s.lastErr != nil {
		st.LastError, st.LastErrorAt = s.lastErr.Error(), s.lastErrAt
	}
	return st
}

// errNoParse is a Config that can prove no corpus.
var errNoParse = errors.New("policy: Parse is not set and the corpus is not to be skipped")
