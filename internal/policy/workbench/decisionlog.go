package workbench

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/sluice-gateway/sluice/internal/audit"
)

// Sources finds programs by the SHA-256 of their text, in hexadecimal.
type Sources map[string][]byte

// AddFolder reads every regular file below folder, whatever its name, up to
// maxBytes each; a larger one is no program that the gateway took.
func (s Sources) AddFolder(folder fs.FS, maxBytes int64) error {
	err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if info, err := d.Info(); err != nil || info.Size() > maxBytes {
			return err
		}
		text, err := fs.ReadFile(folder, name)
		if err == nil {
			s[digestOf(text)] = text
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("read programs: %w", err)
	}
	return nil
}

func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Log is a decision log as it was read.
type Log struct {
	Lines     int
	Decisions int            // lines that hold a verdict
	Cells     int            // of these, cells of sessions: judged without the cells before them
	Cases     []Case         // decisions whose program is known
	Skipped   map[string]int // lines that gave no case, by the reason
}

// Reasons for which a line gives no case.
const (
	skipUnreadable = "no readable line of a decision log"
	skipUndecided  = "not judged (it did not parse, or ended before the policy)"
	skipNoSource   = "the program is not recorded and in no folder of programs"
	skipAltered    = "the recorded program is masked or altered: its digest differs"
	skipErased     = "the policy's mask took the input or the decision out"
	skipNoLanguage = "no plugin is there for the tool"
)

// Read reads one log more. languageOf names a tool's language; "" where no
// plugin has it. A line that cannot be used is counted and does no harm; an
// error is one of r, or a line beyond all bounds.
func (l *Log) Read(r io.Reader, sources Sources, languageOf func(tool string) string) error {
	if l.Skipped == nil {
		l.Skipped = map[string]int{}
	}
	for event, err := range audit.Read(r) {
		l.Lines++
		why := skipUnreadable
		switch {
		case err == nil:
			why = l.take(event, sources, languageOf)
		case !errors.Is(err, audit.ErrNotALog):
			return fmt.Errorf("read the decision log: %w", err)
		}
		if why != "" {
			l.Skipped[why]++
		}
	}
	return nil
}

// take makes a case of a line, or says why not.
func (l *Log) take(e audit.Event, sources Sources, languageOf func(string) string) string {
	switch {
	case e.Result == nil && len(e.Erased) == 0:
		return skipUndecided
	case e.Result == nil || e.Input == nil:
		return skipErased
	}
	l.Decisions++
	code, why := programOf(e.Input.Code, sources)
	if why != "" {
		return why
	}
	language := languageOf(e.Input.Tool)
	if language == "" {
		return skipNoLanguage
	}
	if e.Input.Session {
		l.Cells++
	}
	recorded := recordedOf(*e.Result)
	l.Cases = append(l.Cases, Case{
		Name: cmp.Or(e.DecisionID, e.Custom.RequestID), Language: language, Tool: e.Input.Tool, Profile: e.Input.Profile,
		Caller: e.Input.Caller, Session: e.Input.Session, Code: code, Recorded: &recorded,
	})
	return ""
}

func recordedOf(r audit.Result) Verdict {
	v := Verdict{Allow: r.Allow, Reasons: make([]Reason, 0, len(r.Violations)), cut: r.More > 0}
	for _, one := range r.Violations {
		v.Reasons = append(v.Reasons, Reason{Rule: one.Rule, Level: one.Level, Line: one.Line, Column: one.Column})
	}
	return v.sorted()
}

// programOf is the text that was judged: what was recorded with its very
// digest, else what a folder holds under it.
func programOf(c audit.Code, sources Sources) (code []byte, why string) {
	if c.Text != nil && strings.EqualFold(digestOf([]byte(*c.Text)), c.SHA256) {
		return []byte(*c.Text), ""
	}
	if code, ok := sources[strings.ToLower(c.SHA256)]; ok {
		return code, ""
	}
	if c.Text != nil {
		return nil, skipAltered
	}
	return nil, skipNoSource
}

// Without takes what was recorded out of the cases, so that the old policy is
// asked about them anew.
func Without(cases []Case) []Case {
	out := make([]Case, 0, len(cases))
	for _, c := range cases {
		c.Recorded = nil
		out = append(out, c)
	}
	return out
}
