package policy

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// No file of the host gets into a policy, or into what is told of it.
func TestLinksThatLeadOutAreRefused(t *testing.T) {
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret.rego")
	must(t, os.WriteFile(secret, []byte("# expect: hunter2 hunter2\nhunter2: x\n"), 0o600))
	for name, link := range map[string][2]string{
		"a rule":            {secret, "custom/x.rego"},
		"a program":         {secret, "corpus/tiny/deny/x.txt"},
		"a folder":          {outside, "corpus/tiny/deny/more"},
		"a relative way":    {"../../../../../../../../../../../" + secret, "custom/x.rego"},
		"the environment":   {"/proc/self/environ", "corpus/tiny/allow/x.txt"},
		"a device":          {"/dev/zero", "custom/x.rego"},
		"the whole machine": {"/", "more"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			onDisk(t, dir, "other")
			cfg := tinyConfig(files(t, "tiny"))
			cfg.FS = Folder(dir)
			s, err := Load(context.Background(), cfg)
			must(t, err)
			before := s.Status().Revision
			must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, link[1])), 0o700))
			must(t, os.Symlink(link[0], filepath.Join(dir, link[1])))
			err = s.Reload(context.Background())
			if !errors.Is(err, errLeadsOut) || strings.Contains(err.Error(), "hunter2") || !strings.HasPrefix(err.Error(), link[1]+": ") {
				t.Errorf("reload: %v", err)
			}
			if st := s.Status(); st.Revision != before || st.LastError == "" {
				t.Errorf("status %+v", st)
			}
		})
	}
}

// A folder that is replaced, or is a link that is moved on, is read as it is now.
func TestTheFolderItselfMayBeALink(t *testing.T) {
	top := t.TempDir()
	for _, release := range []string{"1", "2"} {
		onDisk(t, filepath.Join(top, release), "other")
	}
	must(t, os.WriteFile(filepath.Join(top, "2", "custom.txt"), nil, 0o600))
	current := filepath.Join(top, "current")
	must(t, os.Symlink("1", current))
	folder := Folder(current)
	for _, want := range []bool{false, true} {
		_, err := fs.Stat(folder, "custom.txt")
		if (err == nil) != want {
			t.Errorf("%v, want it there: %v", err, want)
		}
		must(t, errors.Join(os.Remove(current), os.Symlink("2", current)))
	}
}

// What is read has a bound in all, not for each file alone.
func TestLargeFoldersAreRefused(t *testing.T) {
	tooLarge := make([]byte, maxFileBytes+1)
	large := tooLarge[:maxFileBytes]
	for name, test := range map[string]struct {
		files map[string][]byte
		want  string
	}{
		"a file":          {map[string][]byte{"corpus/x/a": tooLarge}, "corpus/x/a: it is larger than"},
		"the corpus":      {numbered("corpus/x/", large, maxAllBytes/maxFileBytes+1), "with it the policy folder is larger than"},
		"rules":           {numbered("custom/", large[:maxRegoBytes/2], 3), "with it the Rego files are larger than"},
		"what counts not": {map[string][]byte{"data.json": tooLarge, "testdata/x.rego": tooLarge, ".git/x.rego": tooLarge}, ""},
	} {
		m := fstest.MapFS{entryFile: {Data: []byte("package gateway\n")}}
		for file, data := range test.files {
			m[file] = &fstest.MapFile{Data: data}
		}
		_, err := readFolder(m)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

func numbered(dir string, data []byte, n int) map[string][]byte {
	all := map[string][]byte{}
	for i := range n {
		all[dir+string(rune('a'+i))+regoExt] = data
	}
	return all
}
