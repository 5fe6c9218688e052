package library

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// pin is one distribution of a lock: its version, and the digests of its files.
type pin struct {
	Name, Version string
	Hashes        []string
}

var (
	pinned    = regexp.MustCompile(`(?m)^([a-z0-9][a-z0-9._-]*)==([^\s\\]+)`)
	separator = regexp.MustCompile(`[-_.]+`)
	digest    = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// normal is a distribution's name as all spellings of it are compared.
func normal(name string) string {
	return strings.ToLower(separator.ReplaceAllString(name, "-"))
}

// pins reads the names and versions of a lock.
func pins(lock string) map[string]string {
	versions := map[string]string{}
	for _, m := range pinned.FindAllStringSubmatch(lock, -1) {
		versions[normal(m[1])] = m[2]
	}
	return versions
}

// constraints hold a resolver to what is locked.
func constraints(lock string) string {
	var text strings.Builder
	for _, m := range pinned.FindAllStringSubmatch(lock, -1) {
		text.WriteString(m[1] + "==" + m[2] + "\n")
	}
	return text.String()
}

// report is what `pip install --report` says that it would install.
type report struct {
	Install []struct {
		DownloadInfo struct {
			ArchiveInfo struct {
				Hash   string            `json:"hash"` // "sha256=…", as pip before 23.1 has it
				Hashes map[string]string `json:"hashes"`
			} `json:"archive_info"`
		} `json:"download_info"`
		Metadata struct {
			Name    string `json:"name"`
			Version string `json:"version"`
		} `json:"metadata"`
	} `json:"install"`
}

var versionForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.+!_-]{0,63}$`)

// fresh reads from a report what the lock does not have yet. Of where the files
// are from nothing is taken.
func fresh(raw []byte, lock string) ([]pin, error) {
	var r report
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, fmt.Errorf("read pip's report: %w", err)
	}
	have := pins(lock)
	var list []pin
	for _, item := range r.Install {
		p := pin{Name: normal(item.Metadata.Name), Version: item.Metadata.Version}
		archive := item.DownloadInfo.ArchiveInfo
		sum := archive.Hashes["sha256"]
		if sum == "" {
			sum = strings.TrimPrefix(archive.Hash, "sha256=")
		}
		switch version, ok := have[p.Name]; {
		case ok && version == p.Version:
			continue
		case ok:
			return nil, fmt.Errorf("it needs %s %s, and %s is locked: renew the lock first", p.Name, p.Version, version)
		case !digest.MatchString(sum) || !versionForm.MatchString(p.Version):
			return nil, fmt.Errorf("pip names no digest for %s %.64q", p.Name, p.Version)
		}
		p.Hashes = []string{sum}
		list = append(list, p)
	}
	if len(list) == 0 {
		return nil, errors.New("pip would install nothing that is not locked already")
	}
	slices.SortFunc(list, func(a, b pin) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// extend adds pins to a lock, each at its place in the order of names.
func extend(lock string, more []pin, why string) string {
	for _, p := range more {
		entry := p.Name + "==" + p.Version
		for _, h := range p.Hashes {
			entry += " \\\n    --hash=sha256:" + h
		}
		entry += "\n    # via " + why + " (the file for this platform)\n"
		at := len(lock)
		for _, m := range pinned.FindAllStringSubmatchIndex(lock, -1) {
			if lock[m[2]:m[3]] > p.Name {
				at = m[0]
				break
			}
		}
		lock = lock[:at] + entry + lock[at:]
	}
	return lock
}
