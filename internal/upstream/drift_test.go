package upstream

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	wantRules := []RuleChange{{ListBannedCalls, "getattr", "added", "in step", false}, {ListBannedCalls, "print", "added", "looser", true}}
	for name, source := range h.sources(t) {
		t.Run(name, func(t *testing.T) {
			report, err := LookAhead(t.Context(), with(t, pinned(t, h.pin, h.text), source))
			if err != nil {
				t.Fatal(err)
			}
			wantExit(t, report, ExitMoved)
			d := report.Drift
			if d.Head != h.move || d.Pinned != h.pin || d.HeadDate != "2026-09-20" || !d.Moved || d.Rewritten || d.Between != 4 {
				t.Errorf("drift %+v", d)
			}
			var touching []string
			for _, c := range d.Commits {
				touching = append(touching, c.Hash)
			}
			if want := []string{h.move, h.name, h.bans}; !slices.Equal(touching, want) {
				t.Errorf("commits %q, want %q", touching, want)
			}
			if f := d.Files[0]; len(d.Files) != 1 || f.State != fileMoved || f.Now != "validator.py" {
				t.Errorf("files %+v", d.Files)
			}
			if !reflect.DeepEqual(d.Rules, wantRules) {
				t.Errorf("rules %+v", d.Rules)
			}
			shows(t, report, KindSource, LevelNote, "fixture now also bans print; the policy does not follow yet")
			shows(t, report, KindLooser, LevelWarning, "fixture bans print(), profile tool does not")
		})
	}
}

func TestDriftStepByStep(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	for name, tt := range map[string]struct {
		at, state string
		exit      int
	}{
		"nothing":            {h.pin, fileSame, ExitInStep},
		"another file":       {h.pin + "~0", fileSame, ExitInStep},
		"a ban":              {h.bans, fileChanged, ExitMoved},
		"a set of new name":  {h.name, fileChanged, ExitMoved},
		"a file of new path": {h.move, fileMoved, ExitMoved},
	} {
		t.Run(name, func(t *testing.T) {
			h.repo.git("checkout", "-q", "-B", "main", tt.at)
			report, err := LookAhead(t.Context(), with(t, pinned(t, h.pin, h.text), h.repo.dir))
			if err != nil {
				t.Fatal(err)
			}
			wantExit(t, report, tt.exit)
			if f := report.Drift.Files[0]; f.State != tt.state {
				t.Errorf("state %q, want %q", f.State, tt.state)
			}
		})
	}
	// Commits that touch nothing that is pinned are no move.
	h.repo.git("checkout", "-q", "-B", "main", h.bans+"~1")
	report, err := LookAhead(t.Context(), with(t, pinned(t, h.pin, h.text), h.repo.dir))
	if err != nil {
		t.Fatal(err)
	}
	wantExit(t, report, ExitInStep)
	shows(t, report, KindSource, LevelNote, "1 commits since the pin; none touches a pinned file")
	// A file that is gone.
	h.repo.git("rm", "-q", validatorPath)
	h.repo.commit("no more")
	if report, err = LookAhead(t.Context(), with(t, pinned(t, h.pin, h.text), h.repo.dir)); err != nil {
		t.Fatal(err)
	}
	wantExit(t, report, ExitMoved)
	shows(t, report, KindMoved, LevelWarning, "is gone")
	if _, _, err := Update(t.Context(), with(t, pinned(t, h.pin, h.text), h.repo.dir), "", false); err == nil || !strings.Contains(err.Error(), validatorPath) {
		t.Errorf("update to a state without the file: %v", err)
	}
}

// A set that the pin names is followed to its new name.
func TestDriftFollowsNames(t *testing.T) {
	long(t)
	t.Parallel()
	h := newHistory(t)
	folder := pinned(t, h.pin, h.text)
	replace(t, folder, PinFile, "    rules:\n", "    from: {banned_calls: [BANNED_CALLS]}\n    rules:\n")
	report, err := LookAhead(t.Context(), with(t, folder, h.repo.dir))
	if err != nil {
		t.Fatal(err)
	}
	shows(t, report, KindSource, LevelWarning, "banned_calls: BANNED_CALLS seems to be called NEVER now")
	_, outputs, err := Update(t.Context(), with(t, folder, h.repo.dir), "", false)
	if err != nil || len(outputs) != 1 || !strings.Contains(string(outputs[0].Text), "banned_calls: [NEVER]") {
		t.Errorf("%v, %v", outputs, err)
	}
}

func TestDriftOfWhatIsTakenBack(t *testing.T) {
	long(t)
	t.Parallel()
	h := newHistory(t)
	sets := validatorSets()
	sets["BANNED_CALLS"] = []string{"compile", "eval", "exec"}
	sets["ALLOWED_IMPORTS"] = append(minus(sets["ALLOWED_IMPORTS"], []string{"json"}), "zlib")
	text := strings.ReplaceAll(validator(sets), "(ast.ClassDef, ast.AsyncFunctionDef)", "(ast.ClassDef, ast.Yield)")
	h.repo.git("checkout", "-q", "-B", "main", h.pin)
	h.repo.write(validatorPath, text)
	h.repo.commit("take back")
	report, err := LookAhead(t.Context(), with(t, pinned(t, h.pin, h.text), h.repo.dir))
	if err != nil {
		t.Fatal(err)
	}
	want := []RuleChange{
		{ListAllowedImports, "zlib", "added", "in step", false}, {ListAllowedImports, "json", "removed", "looser", true},
		{ListBannedCalls, "open", "removed", "in step", false},
		{ListDeniedNodes, "Yield", "added", "looser", true}, {ListDeniedNodes, "AsyncFunctionDef", "removed", "in step", false},
	}
	if !reflect.DeepEqual(report.Drift.Rules, want) {
		t.Errorf("rules %+v", report.Drift.Rules)
	}
	for _, sentence := range []string{
		"fixture no longer bans open", "fixture now also allows the import of zlib", "fixture no longer allows the import of json; the policy does not follow yet",
		"fixture now also refuses Yield; the policy does not follow yet",
	} {
		shows(t, report, KindSource, LevelNote, sentence)
	}
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	for name, source := range h.sources(t) {
		t.Run(name, func(t *testing.T) {
			folder := pinned(t, h.pin, h.text)
			report, outputs, err := Update(t.Context(), with(t, folder, source), "", false)
			if err != nil {
				t.Fatal(err)
			}
			if len(outputs) != 1 || outputs[0].Name != PinFile {
				t.Fatalf("files %v", outputs)
			}
			wantExit(t, report, ExitInStep)
			text := string(outputs[0].Text)
			for _, want := range []string{
				"# The pin.\n", "commit: " + h.move + " # the pinned one\n", "date: 2026-09-20\n", "path: validator.py\n",
				"banned_calls: [compile, eval, exec, getattr, open, print]\n", "reason: a text\n", "denied_nodes: [AsyncFunctionDef, ClassDef]\n",
			} {
				if !strings.Contains(text, want) {
					t.Errorf("the pin has no %q:\n%s", want, text)
				}
			}
			for _, want := range []string{
				"add print to blocked_names (rule blocked-name) for profile tool, or argue an exception",
				"write fixture: " + h.move + " under custom.upstream in the METADATA of package rules.python",
			} {
				if !slices.Contains(report.Update.ToDo, want) {
					t.Errorf("to do %q, want %q", report.Update.ToDo, want)
				}
			}
			// The pin is now ahead of the policy until a person follows.
			folder[PinFile] = &fstest.MapFile{Data: outputs[0].Text}
			after, err := Check(t.Context(), with(t, folder, source))
			if err != nil {
				t.Fatal(err)
			}
			wantExit(t, after, ExitLooser)
			shows(t, after, KindLooser, LevelError, "print()")
			addEntry(t, folder, "blocked_names", "print")
			annotate(t, folder, "fixture", h.move)
			if after, err = Check(t.Context(), with(t, folder, source)); err != nil {
				t.Fatal(err)
			}
			wantExit(t, after, ExitInStep)
			if after, err = LookAhead(t.Context(), with(t, folder, source)); err != nil {
				t.Fatal(err)
			}
			wantExit(t, after, ExitInStep)
		})
	}
}

func TestUpdateToACommit(t *testing.T) {
	long(t)
	t.Parallel()
	h := newHistory(t)
	folder := pinned(t, h.pin, h.text)
	_, outputs, err := Update(t.Context(), with(t, folder, h.repo.dir), h.bans, false)
	if err != nil || len(outputs) != 1 || !strings.Contains(string(outputs[0].Text), "commit: "+h.bans) || !strings.Contains(string(outputs[0].Text), "path: "+validatorPath) {
		t.Errorf("%v, %v", outputs, err)
	}
	for commit, want := range map[string]string{strings.Repeat("9", 40): "the commit is not there", "main": "is not a commit", "HEAD~1": "is not a commit"} {
		if _, _, err := Update(t.Context(), with(t, folder, h.repo.dir), commit, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", commit, err)
		}
	}
	_, outputs, err = Update(t.Context(), with(t, folder, h.repo.dir), h.pin, false)
	if err != nil {
		t.Fatal(err)
	}
	folder[PinFile] = &fstest.MapFile{Data: outputs[0].Text}
	if _, outputs, err = Update(t.Context(), with(t, folder, h.repo.dir), h.pin, false); err != nil || len(outputs) != 0 {
		t.Errorf("an update to the pin writes %d files, %v", len(outputs), err)
	}
}

// With write-lists the lists follow, and nothing else of the policy changes.
func TestUpdateWritesLists(t *testing.T) {
	long(t)
	t.Parallel()
	h := newHistory(t)
	sets := validatorSets()
	sets["BANNED_CALLS"] = append(sets["BANNED_CALLS"], "print")
	sets["ALLOWED_IMPORTS"] = minus(sets["ALLOWED_IMPORTS"], []string{"json"})
	h.repo.git("checkout", "-q", "-B", "main", h.pin)
	h.repo.write(validatorPath, validator(sets))
	at := h.repo.commit("ban print and json")
	folder := pinned(t, h.pin, h.text)
	before := string(folder["allowlist.rego"].Data)
	report, outputs, err := Update(t.Context(), with(t, folder, h.repo.dir), "", true)
	if err != nil || len(outputs) != 2 || outputs[1].Name != "allowlist.rego" {
		t.Fatalf("%d files, %v", len(outputs), err)
	}
	if !strings.Contains(report.Update.Diff, "+++ b/allowlist.rego\n@@ -") || !strings.Contains(report.Update.Diff, `"print"`) {
		t.Errorf("diff:\n%s", report.Update.Diff)
	}
	var changed []string
	for line := range strings.Lines(string(outputs[1].Text)) {
		if !strings.Contains(before, line) {
			changed = append(changed, line)
		}
	}
	for _, line := range changed {
		if !strings.HasPrefix(line, "\t\"") {
			t.Errorf("%q changed outside of a list", line)
		}
	}
	folder[PinFile] = &fstest.MapFile{Data: outputs[0].Text}
	folder["allowlist.rego"] = &fstest.MapFile{Data: outputs[1].Text}
	annotate(t, folder, "fixture", at)
	wantExit(t, check(t, folder, StrictNot), ExitInStep)
}

// An upstream that was never fetched gets its digests and rules.
func TestUpdateOfAnUnverifiedUpstream(t *testing.T) {
	long(t)
	t.Parallel()
	h := newHistory(t)
	folder := pinned(t, h.pin, h.text)
	text := string(folder[PinFile].Data)
	from, to := strings.Index(text, "    sha256:"), strings.Index(text, "exceptions:")
	text = text[:from] + "    sha256: null # not fetched yet\n" + text[to:strings.Index(text, "- upstream: fixture\n")]
	text = strings.Replace(text, "exceptions:\n", "exceptions: []\n", 1)
	folder[PinFile] = &fstest.MapFile{Data: []byte(text)}
	report := check(t, folder, StrictNot)
	shows(t, report, KindUnverified, LevelNote, validatorPath)
	source, err := Check(t.Context(), with(t, folder, h.repo.dir))
	if err != nil {
		t.Fatal(err)
	}
	shows(t, source, KindSource, LevelNote, "none is recorded")
	_, outputs, err := Update(t.Context(), with(t, folder, h.repo.dir), h.pin, false)
	if err != nil || len(outputs) != 1 {
		t.Fatalf("%v, %v", outputs, err)
	}
	for _, want := range []string{"sha256: " + digestOf([]byte(h.text)) + "\n", "banned_calls: [compile, eval, exec, open]\n", "private_attributes: true\n"} {
		if !strings.Contains(string(outputs[0].Text), want) {
			t.Errorf("the pin has no %q:\n%s", want, outputs[0].Text)
		}
	}
}

func TestDriftNeedsASource(t *testing.T) {
	t.Parallel()
	if _, err := LookAhead(t.Context(), Config{Folder: shipped(t), Now: today}); err == nil {
		t.Error("drift without a source")
	}
}
