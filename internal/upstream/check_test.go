package upstream

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sluice-gateway/sluice/policies"
)

func TestShippedPolicyIsInStep(t *testing.T) {
	report := check(t, policies.FS(), StrictHashes)
	wantExit(t, report, ExitInStep)
	if looser := report.Looser(); len(looser) > 0 {
		t.Errorf("looser: %v", looser)
	}
	want := []string{
		"tiny_gdn tool allowed_imports bisect", "tiny_gdn tool allowed_imports heapq", "tiny_gdn tool allowed_imports random", "tiny_gdn tool allowed_imports typing",
	}
	excepted := only(report, KindExcepted)
	for _, w := range want {
		if !slices.Contains(excepted, w) {
			t.Errorf("%q is not argued; argued are %q", w, excepted)
		}
	}
	for _, f := range report.Findings {
		if f.Kind == KindExcepted && f.Reason == "" {
			t.Errorf("%s has no reason", f.Entry)
		}
	}
	shows(t, report, KindUnverified, LevelWarning, "code_security.py")
}

// Every call that an upstream bans is missed when the policy lets it go.
func TestEachBannedCallIsMissed(t *testing.T) {
	long(t)
	pin, err := Pins(policies.FS())
	if err != nil {
		t.Fatal(err)
	}
	u, _ := pin.find("tiny_gdn")
	calls := u.Files[0].Rules.BannedCalls
	if len(calls) != 18 {
		t.Fatalf("%d calls are pinned", len(calls))
	}
	if slower > 1 {
		calls = calls[:3]
	}
	for _, name := range calls {
		folder := shipped(t)
		list := "blocked_names"
		if !strings.Contains(string(folder["allowlist.rego"].Data[:strings.Index(string(folder["allowlist.rego"].Data), "blocked_unless_bound :=")]), `"`+name+`",`) {
			list = "blocked_unless_bound"
		}
		cutEntry(t, folder, list, name)
		report := check(t, folder, StrictNot)
		wantExit(t, report, ExitLooser)
		found := report.Looser()
		if len(found) != 1 || found[0].Entry != name || found[0].Rule != "blocked-name" || found[0].Profile != "tool" || found[0].List != ListBannedCalls || found[0].When != "" {
			t.Errorf("without %s: %+v", name, found)
		}
		if len(found) == 1 && (found[0].File != "allowlist.rego" || found[0].Line == 0) {
			t.Errorf("without %s: no place in %+v", name, found[0])
		}
	}
}

func TestWhatMakesThePolicyLooser(t *testing.T) {
	long(t)
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, folder fstest.MapFS)
		want   string // upstream profile list entry when
	}{
		{"an import in the list", func(t *testing.T, f fstest.MapFS) { addEntry(t, f, "allowed_imports", "socket") }, "tiny_gdn tool allowed_imports socket"},
		{"an import that nothing else names", func(t *testing.T, f fstest.MapFS) { addEntry(t, f, "allowed_imports", "zoneinfo") }, "tiny_gdn tool allowed_imports zoneinfo"},
		{"a partial module", func(t *testing.T, f fstest.MapFS) { addEntry(t, f, "partial_modules", "pathlib") }, "tiny_gdn tool allowed_imports pathlib"},
		{"an import by the profile", func(t *testing.T, f fstest.MapFS) {
			replace(t, f, "profiles.yaml", "  lists:\n    blocked_syntax:", "  lists:\n    absent_modules: {}\n    blocked_syntax:")
			replace(t, f, "profiles.yaml", "    allowed_imports:\n      remove:", "    allowed_imports:\n      add: [secrets]\n      remove:")
		}, "tiny_gdn tool allowed_imports secrets"},
		{"an import that the profile took out", func(t *testing.T, f fstest.MapFS) { replace(t, f, "profiles.yaml", "        - datetime\n", "") }, "tiny_gdn tool allowed_imports datetime"},
		{"a rule of another level", func(t *testing.T, f fstest.MapFS) {
			replace(t, f, "profiles.yaml", "tool:\n", "tool:\n  rules: {dynamic-format: warn, blocked-syntax: warn}\n")
			replace(t, f, "profiles.yaml", "no private names.\n  rules:\n    dynamic-format: warn\n", "no private names.\n")
		}, "tiny_gdn tool denied_nodes AsyncFunctionDef"},
		{"a waiver", func(t *testing.T, f fstest.MapFS) {
			replace(t, f, "profiles.yaml", "tool:\n", "tool:\n  waivers: [{rule: blocked-name, subject: eval, reason: none, date: 2026-12-24}]\n")
		}, "tiny_gdn tool banned_calls eval"},
		{"classes", func(t *testing.T, f fstest.MapFS) { replace(t, f, "profiles.yaml", "add: [ClassDef]", "add: []") }, "tiny_gdn tool denied_nodes ClassDef"},
		{"private names", func(t *testing.T, f fstest.MapFS) { addEntry(t, f, "plain_private", "_secret") }, "tiny_gdn tool private_names _secret"},
		{"the rule itself", func(t *testing.T, f fstest.MapFS) {
			replace(t, f, holding(t, f, "some name in blocked_names_used"), "some name in blocked_names_used", `some name in blocked_names_used; name != "exec"`)
		}, "tiny_gdn tool banned_calls exec"},
		{"imports that nobody restricts", func(t *testing.T, f fstest.MapFS) {
			replace(t, f, "profiles.yaml", "tool:\n", "tool:\n  rules: {dynamic-format: warn, blocked-import: warn}\n")
			replace(t, f, "profiles.yaml", "no private names.\n  rules:\n    dynamic-format: warn\n", "no private names.\n")
		}, "tiny_gdn tool allowed_imports *"},
		{"an entry point that admits all", func(t *testing.T, f fstest.MapFS) {
			replace(t, f, "main.rego", `"allow": count(errors) == 0`, `"allow": true`)
		}, "tiny_gdn tool banned_calls open"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			folder := shipped(t)
			tt.change(t, folder)
			report := check(t, folder, StrictNot)
			wantExit(t, report, ExitLooser)
			if found := only(report, KindLooser); !slices.Contains(found, tt.want) {
				t.Errorf("looser: %q, want %q among them", found, tt.want)
			}
			for _, f := range report.Looser() {
				if f.Level != LevelError || f.Rule == "" {
					t.Errorf("%+v is no error with a rule", f)
				}
			}
		})
	}
}

func TestStricterPolicyIsInStep(t *testing.T) {
	folder := shipped(t)
	addEntry(t, folder, "blocked_names", "print")
	cutEntry(t, folder, "allowed_imports", "statistics")
	report := check(t, folder, StrictNot)
	wantExit(t, report, ExitInStep)
	stricter := only(report, KindStricter)
	for _, want := range []string{"tiny_gdn tool banned_calls print", "tiny_gdn tool allowed_imports statistics"} {
		if !slices.Contains(stricter, want) {
			t.Errorf("stricter: %q, want %q among them", stricter, want)
		}
	}
	if text := report.text(); !strings.Contains(text, "note: stricter: profile tool is stricter than tiny_gdn in banned_calls: ") {
		t.Errorf("not told:\n%s", text)
	}
}

// An edit of any list, and of what a profile makes of it, wants a review. One
// that changes no entry does not.
func TestEditsWithoutReview(t *testing.T) {
	long(t)
	for name, change := range map[string]func(fstest.MapFS){
		"a list":  func(f fstest.MapFS) { addEntry(t, f, "writing_functions", "sympy.mathml") },
		"a bound": func(f fstest.MapFS) { replace(t, f, "allowlist.rego", "max_nodes := 20000", "max_nodes := 20001") },
		"a profile": func(f fstest.MapFS) {
			replace(t, f, "profiles.yaml", "remove: [sys, time]", "remove: [sys, time, numpy.testing]")
		},
		"a level": func(f fstest.MapFS) { replace(t, f, "profiles.yaml", `private-name: "off"`, "private-name: warn") },
		"a new list": func(f fstest.MapFS) {
			replace(t, f, "allowlist.rego", "max_nodes :=", "more := {\"x\"}\n\nmax_nodes :=")
		},
		"a new grant": func(f fstest.MapFS) {
			replace(t, f, "profiles.yaml", "solve:\n", "solve:\n  grants: [\"builtin:open\"]\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := shipped(t)
			change(folder)
			wantExit(t, check(t, folder, StrictNot), ExitInStep)
			report := check(t, folder, StrictHashes)
			wantExit(t, report, ExitLooser)
			shows(t, report, KindReview, LevelError, "vendor-sync review")

			_, outputs, err := Review(t.Context(), Config{Folder: folder, Now: today})
			if err != nil || len(outputs) != 1 {
				t.Fatalf("review: %d files, %v", len(outputs), err)
			}
			folder[PinFile] = &fstest.MapFile{Data: outputs[0].Text, Mode: 0o644}
			wantExit(t, check(t, folder, StrictHashes), ExitInStep)
			if !strings.Contains(string(outputs[0].Text), "reviewed: 2026-12-01\n") {
				t.Errorf("the day is not recorded:\n%s", outputs[0].Text)
			}
		})
	}
	folder := shipped(t)
	replace(t, folder, "allowlist.rego", "# Modules that may be imported", "# Modules that can be imported")
	wantExit(t, check(t, folder, StrictHashes), ExitInStep)
}

func TestReviewOfAReviewedPolicyWritesNothing(t *testing.T) {
	report, outputs, err := Review(t.Context(), Config{Folder: shipped(t), Now: today})
	if err != nil || len(outputs) != 0 || report.Exit != ExitInStep {
		t.Errorf("%d files, exit %d, %v", len(outputs), report.Exit, err)
	}
}

// A looser policy is recorded when asked for, and stays an error.
func TestReviewOfALooserPolicy(t *testing.T) {
	folder := shipped(t)
	cutEntry(t, folder, "blocked_names", "eval")
	report, outputs, err := Review(t.Context(), Config{Folder: folder, Now: today})
	if err != nil || len(outputs) != 1 {
		t.Fatalf("%d files, %v", len(outputs), err)
	}
	wantExit(t, report, ExitLooser)
}

func TestExceptions(t *testing.T) {
	long(t)
	t.Run("no longer applies", func(t *testing.T) {
		folder := shipped(t)
		replace(t, folder, "profiles.yaml", "        - __future__\n", "        - __future__\n        - random\n")
		report := check(t, folder, StrictNot)
		wantExit(t, report, ExitLooser)
		shows(t, report, KindException, LevelError, "the exception for random of tiny_gdn (allowed_imports) no longer applies")
	})
	t.Run("one for a condition does not cover the whole", func(t *testing.T) {
		folder := shipped(t)
		cutEntry(t, folder, "blocked_unless_bound", "vars")
		report := check(t, folder, StrictNot)
		if found := only(report, KindLooser); !slices.Contains(found, "tiny_gdn tool banned_calls vars") {
			t.Errorf("looser: %q", found)
		}
		shows(t, report, KindException, LevelError, "vars")
	})
	t.Run("overdue", func(t *testing.T) {
		for strict, level := range map[Strict]string{StrictNot: LevelWarning, StrictHashes: LevelWarning, StrictAll: LevelError} {
			report, err := Check(t.Context(), Config{Folder: shipped(t), Now: time.Date(2027, 6, 2, 0, 0, 0, 0, time.UTC), Strict: strict})
			if err != nil {
				t.Fatal(err)
			}
			shows(t, report, KindOverdue, level, "to be looked at by 2027-06-01")
		}
	})
}

func TestStrictAllWantsVerifiedUpstreams(t *testing.T) {
	wantExit(t, check(t, shipped(t), StrictAll), ExitUnverified)
	folder := shipped(t)
	cutEntry(t, folder, "blocked_names", "eval")
	wantExit(t, check(t, folder, StrictAll), ExitLooser)
}

func TestAnnotationNamesThePins(t *testing.T) {
	long(t)
	for name, want := range map[string]string{"another": "does not name tiny_gdn", "tiny_gdn": "says that it follows tiny_gdn at abc"} {
		folder := shipped(t)
		annotate(t, folder, name, "abc")
		report := check(t, folder, StrictNot)
		wantExit(t, report, ExitLooser)
		shows(t, report, KindAnnotation, LevelError, want)
	}
	folder := shipped(t)
	annotate(t, folder, "another", "abc")
	shows(t, check(t, folder, StrictNot), KindAnnotation, LevelError, "follows another, which upstream.yaml does not pin")
}

func TestFoldersThatCannotBeRead(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(fstest.MapFS)
		want   string
	}{
		"no pin":             {func(f fstest.MapFS) { delete(f, PinFile) }, "read the pin"},
		"no profiles":        {func(f fstest.MapFS) { delete(f, "profiles.yaml") }, "profiles.yaml"},
		"a profile is gone":  {func(f fstest.MapFS) { replace(t, f, PinFile, "profiles: [tool]", "profiles: [other]") }, "other"},
		"rules do not parse": {func(f fstest.MapFS) { replace(t, f, holding(t, f, "deny contains"), "deny contains", "deny contain") }, ".rego:"},
		"rules do not compile": {func(f fstest.MapFS) {
			replace(t, f, "allowlist.rego", "max_nodes := 20000", "max_nodes := http.send({}).x")
		}, "http.send"},
		"no rules": {func(f fstest.MapFS) {
			for name := range f {
				if strings.HasSuffix(name, ".rego") {
					delete(f, name)
				}
			}
		}, "is this a policy folder?"},
		"profiles are no mapping": {func(f fstest.MapFS) { f["profiles.yaml"] = &fstest.MapFile{Data: []byte("solve: 1")} }, `profiles.yaml:1: `},
	} {
		t.Run(name, func(t *testing.T) {
			folder := shipped(t)
			tt.change(folder)
			if name == "a profile is gone" { // its exceptions name it too
				text := strings.ReplaceAll(string(folder[PinFile].Data), "profile: tool", "profile: other")
				folder[PinFile] = &fstest.MapFile{Data: []byte(text)}
			}
			if _, err := Check(t.Context(), Config{Folder: folder, Now: today}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

// An operator's own package may refuse more.
func TestCustomPackagesCount(t *testing.T) {
	folder := shipped(t)
	cutEntry(t, folder, "blocked_names", "eval")
	folder["custom/evals.rego"] = &fstest.MapFile{Data: []byte(`# METADATA
# custom:
#   language: python
package custom.evals

# METADATA
# title: eval
# custom:
#   id: no-eval
deny contains {"rule": "no-eval", "msg": "no", "at": at, "subject": "eval"} if some at in input.ast.names.eval
`)}
	wantExit(t, check(t, folder, StrictNot), ExitInStep)
	replace(t, folder, "custom/evals.rego", "language: python", "language: calc")
	wantExit(t, check(t, folder, StrictNot), ExitLooser)
}

// A waiver that is over counts for nothing.
func TestLapsedWaiver(t *testing.T) {
	folder := shipped(t)
	replace(t, folder, "profiles.yaml", "tool:\n", "tool:\n  waivers: [{rule: blocked-name, subject: eval, reason: none, date: 2026-11-30}]\n")
	wantExit(t, check(t, folder, StrictNot), ExitInStep)
}

// The limit is on the processor's time: other programs may be busy too.
func TestCheckIsFast(t *testing.T) {
	long(t)
	best := time.Hour
	for range 3 {
		before := processorTime(t)
		check(t, policies.FS(), StrictNot)
		best = min(best, processorTime(t)-before)
	}
	t.Logf("%s", best)
	if limit := time.Second * slower; best > limit {
		t.Errorf("a check takes %s, more than %s", best, limit)
	}
}

func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		t.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
