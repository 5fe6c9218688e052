package policy

import (
	"slices"
	"testing"
)

// TestHeadingsOfOtherLanguages: a first line stands in a comment of the program's
// own language, or in one that the program's parser never sees.
func TestHeadingsOfOtherLanguages(t *testing.T) {
	for text, want := range map[string]example{
		"-- expect: no-os 2; profile: solve\nos.exit()": {profiles: []string{"solve"}, code: []byte("-- expect: no-os 2; profile: solve\nos.exit()")},
		"// expect: no-os 2\nx":                         {code: []byte("// expect: no-os 2\nx")},
		"/* expect: no-os 2 */\nx":                      {code: []byte("/* expect: no-os 2 */\nx")},
		"(* expect: no-os 2 *)\nx":                      {code: []byte("(* expect: no-os 2 *)\nx")},
		";; expect: no-os 2\nx":                         {code: []byte(";; expect: no-os 2\nx")},
		"# expect: no-os 2\r\nx\n":                      {code: []byte("\nx\n")},
	} {
		got, err := readCorpusFile("corpus/lua/deny/one.txt", text)
		if err != nil || len(got) != 1 || !slices.Equal(got[0].expect, []expectation{{"no-os", 2}}) ||
			!slices.Equal(got[0].profiles, want.profiles) || string(got[0].code) != string(want.code) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	if got, err := readCorpusFile("corpus/deny/one.py", "# expect: no-os 2\nx"); err != nil || string(got[0].code) != "# expect: no-os 2\nx" {
		t.Errorf("Python: %+v, %v", got, err)
	}
	for _, text := range []string{"expect: no-os 2\nx", "# expected: no-os 2\nx", `"expect: no-os 2"`, "-- expect: no-os two\nx"} {
		if _, err := readCorpusFile("corpus/lua/deny/one.txt", text); err == nil {
			t.Errorf("%q is a heading", text)
		}
	}
	if got, err := readCorpusFile("corpus/lua/allow/one.txt", "#t is a length\n"); err != nil || string(got[0].code) != "#t is a length\n" {
		t.Errorf("no heading: %+v, %v", got, err)
	}
}
