package executortest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// Options say how Verify goes about.
type Options struct {
	Only     []string      // ids of the checks to run; empty: all
	Patience time.Duration // for all of them; 0: five minutes. A check that has no time left fails
	Short    bool          // fewer rounds where many are run
	Progress func(Finding) // called as each check ends; may be nil
}

// Verify runs a plugin's program, several times, and holds it against the whole
// contract: its process and handshake (H), what it says of itself (D), its
// submissions (S), sessions (T) and what operators do to it (O). What it does not
// keep is in the report; the error tells of a program that cannot be run at all.
//
// The plugin runs with the rights of the caller and without the gateway's walls.
// Verify returns when none of its processes is left. It needs /bin/sh for the
// checks H08 and H09, and looks into /proc; without them these are skipped.
func Verify(ctx context.Context, p Program, o Options) (Report, error) {
	r := Report{Program: p.Path}
	if err := known(o.Only); err != nil {
		return r, err
	}
	var err error
	if r.SHA256, err = digestOf(p.Path); err != nil {
		return r, fmt.Errorf("verify %s: %w", p.Path, err)
	}
	h, err := newHost()
	if err != nil {
		return r, fmt.Errorf("verify %s: %w", p.Path, err)
	}
	if o.Patience == 0 {
		o.Patience = 5 * time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, o.Patience)
	defer cancel()
	v := &verifier{ctx: ctx, options: o, host: h, report: &r, suite: &suite{program: p, short: o.Short, verifier: h}}
	v.all()
	return r, nil
}

// known refuses an id that no check has: a slip of the hand must not pass.
func known(only []string) error {
	ids := []string{"H02"}
	for _, c := range slices.Concat(alone(), handshakeChecks(), describeChecks(), submitChecks(), sessionChecks(), operationChecks(), processChecks(), lastChecks()) {
		ids = append(ids, c.id)
	}
	for _, id := range only {
		if !slices.Contains(ids, id) {
			slices.Sort(ids)
			return fmt.Errorf("there is no check %q; there are %s", id, strings.Join(slices.Compact(ids), ", "))
		}
	}
	return nil
}

func digestOf(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return "", errors.New("it is not an executable file; a script's interpreter is named, and the script is its argument")
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// verifier runs checks against processes.
type verifier struct {
	ctx     context.Context
	options Options
	host    *host
	report  *Report
	suite   *suite
	started error // why there is no process to look at
}

func (v *verifier) all() {
	defer v.stop()
	v.each("", alone())
	v.begin()
	v.each("", slices.Concat(handshakeChecks(), describeChecks()))
	for i, l := range v.suite.about.Languages {
		v.suite.speak(i)
		v.each(l.ID, submitChecks())
		v.each(l.ID, sessionChecks())
	}
	if len(v.suite.about.Languages) > 0 {
		v.suite.speak(0)
	}
	v.each("", slices.Concat(operationChecks(), processChecks(), lastChecks()))
}

// begin starts the process that most checks look at: that is check H02.
func (v *verifier) begin() {
	v.stop()
	began := time.Now()
	v.started = v.suite.begin(v.ctx)
	if v.suite.proc != nil {
		v.report.Name, v.report.Version = v.suite.about.Name, v.suite.about.Version
	}
	f := Finding{ID: "H02", Rule: "from its start to health, in time", Outcome: Passed, Took: time.Since(began)}
	if v.started != nil {
		f.Outcome, f.Detail = Failed, v.started.Error()
	}
	if v.wanted("H02") || v.started != nil {
		v.tell(f)
	}
}

// begin starts, describes and configures a process.
func (s *suite) begin(ctx context.Context) error {
	p, err := s.verifier.spawn(s.program, launching{})
	if err != nil {
		return err
	}
	s.proc = p
	if err := s.verifier.meet(ctx, p); err != nil {
		return err
	}
	s.host, s.raw, s.about, s.early = p.client, p.raw(), p.about, p.early
	return p.settle(ctx, s.program, "info", nil)
}

func (v *verifier) stop() {
	if v.suite.proc != nil {
		v.suite.proc.end()
		v.suite.proc = nil
	}
}

func (v *verifier) wanted(id string) bool {
	return len(v.options.Only) == 0 || slices.Contains(v.options.Only, id)
}

func (v *verifier) tell(f Finding) {
	v.report.Findings = append(v.report.Findings, f)
	if v.options.Progress != nil {
		v.options.Progress(f)
	}
}

func (v *verifier) each(language string, checks []check) {
	for _, c := range checks {
		if v.wanted(c.id) {
			f := v.one(c)
			f.Language = language
			v.tell(f)
		}
	}
}

// byHand is the check that needs no start.
const byHand = "H01"

// one runs a check, on a process that lives.
func (v *verifier) one(c check) Finding {
	if v.ctx.Err() != nil {
		return Finding{ID: c.id, Rule: c.rule, Outcome: Failed, Detail: "no time was left for it"}
	}
	if c.alone && (v.started == nil || c.id == byHand) {
		return v.suite.try(c)
	}
	if v.started == nil && v.suite.proc.isGone() {
		v.stop()
		v.started = v.suite.begin(v.ctx)
	}
	if v.started != nil {
		return Finding{ID: c.id, Rule: c.rule, Outcome: Skipped, Detail: "there is no process to look at (H02)"}
	}
	f := v.suite.try(c)
	if v.suite.proc.isGone() {
		f.Outcome, f.Detail = Failed, f.Detail+"; "+v.suite.proc.fate()
	}
	return f
}

// RunProgram holds a plugin's program against the whole contract, one subtest a
// check. Without samples that a check needs it is skipped.
func RunProgram(t *testing.T, p Program, o Options) {
	t.Helper()
	r, err := Verify(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		t.Run(f.name(), func(t *testing.T) {
			switch f.Outcome {
			case Failed:
				t.Error(f.Detail)
			case Skipped, NotApplicable:
				t.Skip(f.Detail)
			}
		})
	}
}

func (f Finding) name() string {
	if f.Language != "" {
		return f.Language + "/" + f.ID + " " + f.Rule
	}
	return f.ID + " " + f.Rule
}
