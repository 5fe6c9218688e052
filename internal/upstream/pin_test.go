package upstream

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sluice-gateway/sluice/policies"
)

func shippedPin(t testing.TB) []byte {
	t.Helper()
	text, err := fs.ReadFile(policies.FS(), PinFile)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestShippedPin(t *testing.T) {
	pin, err := Pins(policies.FS())
	if err != nil {
		t.Fatal(err)
	}
	first, _ := pin.find("math_for_AI_assistant")
	second, _ := pin.find("tiny_gdn")
	if first.Mark() != "ebab6dc4702c8ae8fce9d069faac259a9f77723f" || first.Branch != "public/teachers" || first.Date != "2026-09-14" || first.verified() {
		t.Errorf("first: %+v", first)
	}
	if second.Mark() != "181d6e0fa42766a998e60905a621b3ce7f2698040060c6682d75b1ede04b1017" || !second.verified() || second.Commit != "" {
		t.Errorf("second: %+v", second)
	}
	if r := second.Files[0].Rules; len(r.AllowedImports) != 19 || len(r.BannedCalls) != 18 || !r.PrivateAttributes || !r.PrivateNames {
		t.Errorf("rules: %+v", r)
	}
	if _, ok := pin.find("third"); ok {
		t.Error("there is no third")
	}
}

// The shipped file is as this package writes it, so that a review changes three
// lines and no more.
func TestRecordingChangesNothingElse(t *testing.T) {
	text := shippedPin(t)
	pin, err := ReadPin(text)
	if err != nil {
		t.Fatal(err)
	}
	again, err := recordReview(text, pin.Policy)
	if err != nil || string(again) != string(text) {
		t.Errorf("%v\n%s", err, lineDiff(PinFile, string(text), string(again)))
	}
	for _, u := range pin.Upstreams {
		if again, err = recordUpstream(text, u); err != nil || string(again) != string(text) {
			t.Errorf("%s: %v\n%s", u.Name, err, lineDiff(PinFile, string(text), string(again)))
		}
	}
	now := pin.Policy
	now.ListsSHA256 = strings.Repeat("a", 64)
	again, err = recordReview(text, now)
	if diff := lineDiff(PinFile, string(text), string(again)); err != nil || strings.Count(diff, "\n+") != 2 || !strings.Contains(diff, "+  lists_sha256: aaaa") {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestRecordingWithoutABlock(t *testing.T) {
	text, _, _ := strings.Cut(string(shippedPin(t)), "\n# The policy that")
	now, err := recordReview([]byte(text), Reviewed{Reviewed: "2026-12-01"})
	if err != nil || !strings.HasSuffix(string(now), "policy:\n  lists_sha256: null\n  profiles_sha256: null\n  reviewed: 2026-12-01\n") {
		t.Errorf("%v\n%s", err, now)
	}
	if _, err := recordUpstream([]byte(text), Upstream{Name: "third"}); err == nil {
		t.Error("there is no third")
	}
	if _, err := recordReview([]byte(text), Reviewed{Reviewed: "tomorrow"}); err == nil {
		t.Error("a day that is none was written")
	}
}

func TestPinsThatAreNotTaken(t *testing.T) {
	commit := "ebab6dc4702c8ae8fce9d069faac259a9f77723f"
	for name, tt := range map[string]struct{ old, now, want string }{
		"unknown key":        {"    branch:", "    brunch: x\n    branch:", "brunch"},
		"duplicate key":      {"  branch: public/teachers\n", "  branch: a\n  branch: b\n", "branch"},
		"short commit":       {"commit: " + commit, "commit: ebab6dc", `commit "ebab6dc" is not 40 hexadecimal digits`},
		"commit of capitals": {"commit: " + commit, "commit: " + strings.ToUpper(commit), "40 hexadecimal digits"},
		"no day":             {"date: 2026-09-14", "date: yesterday", "not of the form 2006-01-02"},
		"no digest":          {"sha256: 181d", "sha256: x181d", "64 hexadecimal digits"},
		"not pinned":         {"    sha256: 181d6e0fa42766a998e60905a621b3ce7f2698040060c6682d75b1ede04b1017\n", "", "it is not pinned"},
		"twice":              {"- name: tiny_gdn", "- name: math_for_AI_assistant", "the name is there twice"},
		"bad name":           {"- name: tiny_gdn", "- name: a/b", `name "a/b"`},
		"no profile":         {"profiles: [tool]", "profiles: []", "none to compare with"},
		"a file twice":       {"path: src/executor/sandbox.py", "path: src/validation/code_security.py", "is there twice"},
		"path that leaves":   {"path: src/executor/sandbox.py", "path: ../sandbox.py", "leaves the tree"},
		"absolute path":      {"path: src/executor/sandbox.py", "path: /etc/passwd", "leaves the tree"},
		"unsorted":           {"[cmath, collections", "[collections, cmath", "not sorted"},
		"entry twice":        {"[cmath, ", "[cmath, cmath, ", "not sorted"},
		"no name":            {"[cmath, ", "[\"a b\", cmath, ", "is not a name"},
		"from nothing":       {"allowed_imports: [_ALLOWED_IMPORT_ROOTS]", "allowed_imports: []", "names no set"},
		"from what":          {"allowed_imports: [_ALLOWED_IMPORT_ROOTS]", "imports: [_ALLOWED_IMPORT_ROOTS]", "is none of"},
		"exception of whom":  {"- upstream: tiny_gdn", "- upstream: third", `there is no upstream "third"`},
		"of which profile":   {"  profile: tool\n", "  profile: solve\n", "is not compared with the profile"},
		"of which list":      {"  list: allowed_imports\n", "  list: imports\n", "is none of"},
		"of what":            {"  entry: bisect\n", "", "it needs an entry"},
		"when":               {"  when: bound\n", "  when: never\n", "when is"},
		"without a reason":   {"  reason: Model code searches sorted lists with it; it computes and does nothing else.\n", "", "it needs a reason"},
		"without a day":      {"  review_by: 2027-06-01\n", "", "a date by which to look again"},
		"reviewed by":        {"  reviewed: ", "  reviewed: x", "reviewed"},
		"digest of lists":    {"  lists_sha256: ", "  lists_sha256: x", "64 hexadecimal digits"},
		"a control":          {"branch: public/teachers", `branch: "a\u001b[31m"`, "plain texts"},
	} {
		t.Run(name, func(t *testing.T) {
			text := string(shippedPin(t))
			if !strings.Contains(text, tt.old) && name != "unknown key" {
				t.Fatalf("the pin has no %q", tt.old)
			}
			if name == "unknown key" {
				tt.old, tt.now = "  branch:", "  brunch: x\n  branch:"
			}
			_, err := ReadPin([]byte(strings.Replace(text, tt.old, tt.now, 1)))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
	for _, text := range []string{"", "{}", "[]", "upstreams: []", "a: b", strings.Repeat("#", maxPinBytes+1), "upstreams: &a [*a]"} {
		if _, err := ReadPin([]byte(text)); err == nil {
			t.Errorf("%.40q was taken", text)
		}
	}
	if _, err := Pins(fstest.MapFS{PinFile: &fstest.MapFile{Mode: fs.ModeDir}}); err == nil {
		t.Error("a folder was taken")
	}
}

// All faults are told at once.
func TestPinTellsAllFaults(t *testing.T) {
	text := strings.NewReplacer("2026-09-14", "never", "profiles: [tool]", "profiles: []").Replace(string(shippedPin(t)))
	_, err := ReadPin([]byte(text))
	if err == nil || !strings.Contains(err.Error(), "never") || !strings.Contains(err.Error(), "none to compare with") {
		t.Errorf("error %v", err)
	}
}

func FuzzReadPin(f *testing.F) {
	f.Add(string(shippedPin(f)))
	f.Add("upstreams:\n- name: a\n  profiles: [tool]\n  files: [{path: a.py, sha256: null}]\n  commit: " + strings.Repeat("0", 40) + "\n")
	f.Add("upstreams: &a\n- *a\n")
	f.Fuzz(func(t *testing.T, text string) {
		pin, err := ReadPin([]byte(text))
		if err != nil {
			return
		}
		for _, u := range pin.Upstreams {
			if !nameForm.MatchString(u.Name) || len(u.Files) == 0 {
				t.Errorf("taken: %+v", u)
			}
			for _, file := range u.Files {
				if strings.Contains("/"+file.Path+"/", "/../") || strings.HasPrefix(file.Path, "/") {
					t.Errorf("a path that leaves the tree: %q", file.Path)
				}
			}
		}
		now, err := recordReview([]byte(text), Reviewed{Reviewed: "2026-12-01"})
		if err != nil {
			return // a form that cannot be written back is told
		}
		again, err := ReadPin(now)
		if err != nil || again.Policy.Reviewed != "2026-12-01" || len(again.Upstreams) != len(pin.Upstreams) {
			t.Errorf("written back: %v\n%s", err, now)
		}
	})
}
