package config

import (
	"slices"
	"strings"
	"testing"
)

func TestPinnedFiles(t *testing.T) {
	sum := strings.Repeat("0a", 32)
	l := mustLoad(t, `
plugins:
  rpn:
    command: bin/python
    args: [lib/plugin.py, other.py, -v]
    sha256: `+sum+`
    files: ["`+sum+`  lib/plugin.py", "`+sum+` */abs/words.py"]
`, nil)
	p := l.Plugins["rpn"]
	files := p.Pinned()
	if len(files) != 2 || files[0].Path != p.Args[0] || !strings.HasSuffix(p.Args[0], "/lib/plugin.py") || p.Args[0][0] != '/' ||
		files[1] != (Pinned{Path: "/abs/words.py", SHA256: sum}) || !slices.Equal(p.Args[1:], []string{"other.py", "-v"}) {
		t.Errorf("%+v, arguments %q", files, p.Args)
	}
	faults := faultsOf(t, `
plugins:
  a: {command: x, sha256: `+sum+`, files: ["plugin.py"]}
  b: {command: x, trust: built, files: ["`+sum+`  plugin.py"]}
`, nil)
	for _, want := range []string{`"plugin.py" is no line of sha256sum`, "plugins.b.files: has no meaning with trust: built"} {
		if !strings.Contains(faults.Error(), want) {
			t.Errorf("%v: does not say %s", faults, want)
		}
	}
}
