package workbench

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// maxLineBytes bounds one line of a decision log; a longer one is counted as
// unreadable.
const maxLineBytes = 32 << 20

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
	skipNoLanguage = "no plugin is there for the tool"
)

// entry is what is read of a line; everything else in it is passed over.
type entry struct {
	RequestID  string   `json:"request_id"`
	DecisionID string   `json:"decision_id"`
	Caller     string   `json:"caller"`
	Tool       string   `json:"tool"`
	Profile    string   `json:"profile"`
	Session    string   `json:"session"`
	Digest     string   `json:"code_sha256"`
	Verdict    string   `json:"verdict"`
	Rules      []Reason `json:"rules"`
	Code       *string  `json:"code"`
}

// Read reads one log more. languageOf names a tool's language; "" where no
// plugin has it. A line that cannot be used is counted and does no harm.
func (l *Log) Read(r io.Reader, sources Sources, languageOf func(tool string) string) error {
	if l.Skipped == nil {
		l.Skipped = map[string]int{}
	}
	lines := bufio.NewReaderSize(r, 1<<16)
	for {
		line, err := readLine(lines)
		if len(line) > 0 {
			l.Lines++
			if why := l.take(line, sources, languageOf); why != "" {
				l.Skipped[why]++
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read the decision log: %w", err)
		}
	}
}

// readLine returns a line without its end; of one that is too long its
// beginning, which is no whole JSON.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for {
		part, more, err := r.ReadLine()
		if room := maxLineBytes - len(line); len(part) > room {
			part = part[:max(room, 0)]
		}
		line = append(line, part...)
		if err != nil || !more {
			return line, err
		}
	}
}

// take makes a case of a line, or says why not.
func (l *Log) take(line []byte, sources Sources, languageOf func(string) string) string {
	var e entry
	if err := json.Unmarshal(line, &e); err != nil || e.Digest == "" {
		return skipUnreadable
	}
	if e.Verdict != "allow" && e.Verdict != "deny" {
		return skipUndecided
	}
	l.Decisions++
	code, why := e.program(sources)
	if why != "" {
		return why
	}
	language := languageOf(e.Tool)
	if language == "" {
		return skipNoLanguage
	}
	if e.Session != "" {
		l.Cells++
	}
	recorded := Verdict{Allow: e.Verdict == "allow", Reasons: e.Rules}.sorted()
	if recorded.Reasons == nil {
		recorded.Reasons = []Reason{}
	}
	l.Cases = append(l.Cases, Case{
		Name: e.name(), Language: language, Tool: e.Tool, Profile: e.Profile, Caller: e.Caller,
		Session: e.Session != "", Code: code, Recorded: &recorded,
	})
	return ""
}

func (e *entry) name() string {
	if e.DecisionID != "" {
		return e.DecisionID
	}
	return e.RequestID
}

// program is the text that was judged: what was recorded with its very digest,
// else what a folder holds under it.
func (e *entry) program(sources Sources) (code []byte, why string) {
	if e.Code != nil && strings.EqualFold(digestOf([]byte(*e.Code)), e.Digest) {
		return []byte(*e.Code), ""
	}
	if code, ok := sources[strings.ToLower(e.Digest)]; ok {
		return code, ""
	}
	if e.Code != nil {
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
