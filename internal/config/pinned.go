package config

import "regexp"

// Pinned is a file with the digest that it must have.
type Pinned struct {
	Path   string
	SHA256 string // hex
}

// sumLine is what sha256sum writes of a file whose name has no odd signs in it.
var sumLine = regexp.MustCompile(`^([0-9A-Fa-f]{64}) [ *]([^\\\n\r]+)$`)

func pinnedBy(line string) (f Pinned, ok bool) {
	parts := sumLine.FindStringSubmatch(line)
	if parts == nil {
		return f, false
	}
	return Pinned{Path: parts[2], SHA256: parts[1]}, true
}

// Pinned are the plugin's Files; what is no line of sha256sum is a fault of the
// configuration, and left out here.
func (p *Plugin) Pinned() (files []Pinned) {
	for _, line := range p.Files {
		if f, ok := pinnedBy(line); ok {
			files = append(files, f)
		}
	}
	return files
}

// resolveFiles makes the paths in Files absolute, and those arguments that name
// one of them as it stands there.
func (p *Plugin) resolveFiles(base string) {
	for i, line := range p.Files {
		f, ok := pinnedBy(line)
		if !ok {
			continue
		}
		path := absolute(base, f.Path)
		for j, arg := range p.Args {
			if arg == f.Path {
				p.Args[j] = path
			}
		}
		p.Files[i] = f.SHA256 + "  " + path
	}
}

func (c *checker) files(at string, p *Plugin) {
	if len(p.Files) > 0 && p.Trust == TrustBuilt {
		c.fault(at, "write trust: pinned", "has no meaning with trust: built")
	}
	for _, line := range p.Files {
		if _, ok := pinnedBy(line); !ok {
			c.fault(at, "write what sha256sum prints: the digest, two spaces, the path", "%q is no line of sha256sum", line)
		}
	}
}
