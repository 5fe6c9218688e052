package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// settings is the plugin's section of config.yaml.
type settings struct {
	Python          string `json:"python"`                          // path of the interpreter, of a virtual environment made by venv.sh
	WaitingChildren int    `json:"waiting_children,omitzero"`       // children kept ready, at least; 0: 2 per processor, at least 4
	MostWaiting     int    `json:"waiting_children_most,omitzero"`  // and at most, when they are asked for; 0: twice as many
	WaitingBytes    uint64 `json:"waiting_memory_bytes,omitzero"`   // what those beyond the least may hold with them, at 4 MiB each; 0: 256 MiB
	UIDBase         int    `json:"uid_base,omitzero"`               // as root: children get uid and gid from here on, one each; 0: 200000
	HashSeed        *int64 `json:"hash_seed,omitzero"`              // PYTHONHASHSEED; null: random for each zygote
	RenewForks      int    `json:"renew_after_forks,omitzero"`      // a new zygote after so many; 0: 10,000
	RenewSeconds    int    `json:"renew_after_seconds,omitzero"`    // and after so long; 0: 900
	MemoryBytes     uint64 `json:"memory_bytes_default,omitzero"`   // where a limit does not say; 0: 1 GiB
	ScratchBytes    uint64 `json:"scratch_bytes_default,omitzero"`  // where a limit does not say; 0: 16 MiB
	ParseSeconds    int    `json:"parse_seconds_default,omitempty"` // where a limit does not say; 0: 5

	Require []string `json:"require,omitempty"` // walls and properties without which it does not start: sandbox.require, handed on
}

const configSchema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "required": ["python"],
  "properties": {
    "python": {"type": "string", "minLength": 1, "description": "path of the interpreter, of an environment made by venv.sh"},
    "waiting_children": {"type": "integer", "minimum": 0, "maximum": 64, "description": "children kept ready, at least; 0: twice the processors, at least 4"},
    "waiting_children_most": {"type": "integer", "minimum": 0, "maximum": 128, "description": "and at most, when so many are asked for at once; 0: twice as many"},
    "waiting_memory_bytes": {"type": "integer", "minimum": 0, "maximum": 1099511627776, "description": "what waiting children may hold together, at 4 MiB each; the least wait in any case; 0: 256 MiB"},
    "uid_base": {"type": "integer", "minimum": 0, "maximum": 2000000000, "description": "as root: each child has its own uid and gid from here on; 0: 200000"},
    "hash_seed": {"type": ["integer", "null"], "minimum": 0, "maximum": 4294967295, "description": "PYTHONHASHSEED; null: random for each zygote"},
    "renew_after_forks": {"type": "integer", "minimum": 0, "maximum": 1000000, "description": "a new zygote after so many children; 0: 10000"},
    "renew_after_seconds": {"type": "integer", "minimum": 0, "maximum": 86400, "description": "a new zygote after so long; 0: 900"},
    "memory_bytes_default": {"type": "integer", "minimum": 0, "description": "where no limit says; 0: 1 GiB"},
    "scratch_bytes_default": {"type": "integer", "minimum": 0, "description": "where no limit says; 0: 16 MiB"},
    "parse_seconds_default": {"type": "integer", "minimum": 0, "maximum": 60, "description": "where no limit says; 0: 5"},
    "require": {"type": "array", "items": {"type": "string"}, "description": "walls and properties without which it does not start; the gateway hands sandbox.require on"}
  }
}`

// parseSettings reads the section strictly and fills in the defaults.
func parseSettings(text []byte) (settings, error) {
	var s settings
	if err := json.Unmarshal(text, &s, json.RejectUnknownMembers(true)); err != nil {
		return s, fmt.Errorf("read the settings: %w", err)
	}
	if s.Python == "" {
		return s, errors.New("read the settings: python is missing: it names the interpreter")
	}
	if err := s.check(); err != nil {
		return s, fmt.Errorf("read the settings: %w", err)
	}
	fill(&s.WaitingChildren, max(4, 2*runtime.NumCPU()))
	fill(&s.MostWaiting, min(2*s.WaitingChildren, mostChildren/2))
	if s.MostWaiting < s.WaitingChildren {
		return s, fmt.Errorf("read the settings: waiting_children_most is %d, less than waiting_children, %d", s.MostWaiting, s.WaitingChildren)
	}
	fill(&s.WaitingBytes, 256<<20)
	fill(&s.UIDBase, 200_000)
	fill(&s.RenewForks, 10_000)
	fill(&s.RenewSeconds, 900)
	fill(&s.MemoryBytes, 1<<30)
	fill(&s.ScratchBytes, 16<<20)
	fill(&s.ParseSeconds, 5)
	return s, nil
}

// check looks at what the file says, before the defaults.
func (s settings) check() error {
	if s.WaitingChildren < 0 || s.MostWaiting < 0 || s.UIDBase < 0 || s.RenewForks < 0 || s.RenewSeconds < 0 || s.ParseSeconds < 0 {
		return errors.New("a number is negative")
	}
	if s.HashSeed != nil && (*s.HashSeed < 0 || *s.HashSeed > 1<<32-1) {
		return fmt.Errorf("hash_seed is %d, not 0 to %d", *s.HashSeed, int64(1<<32-1))
	}
	return nil
}

func fill[N int | uint32 | uint64](field *N, value N) {
	if *field == 0 {
		*field = value
	}
}

// interpreter is the absolute path of the interpreter, which must exist.
func (s settings) interpreter() (string, error) {
	path, err := filepath.Abs(s.Python)
	if err != nil {
		return "", fmt.Errorf("find the interpreter: %w", err)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", fmt.Errorf("find the interpreter %q: %s", s.Python, unreachable(path, err))
	case info.IsDir() || info.Mode()&0o111 == 0:
		return "", fmt.Errorf("find the interpreter: %q is not a program", s.Python)
	}
	return path, nil
}

// environment is all that the interpreter and the programs in it see.
func (s settings) environment() []string {
	seed := "random"
	if s.HashSeed != nil {
		seed = strconv.FormatInt(*s.HashSeed, 10)
	}
	return []string{
		"LANG=C.UTF-8", "LC_ALL=C.UTF-8", "TZ=UTC", "HOME=/tmp", "PATH=/usr/bin:/bin",
		"PYTHONHASHSEED=" + seed, "PYTHONDONTWRITEBYTECODE=1",
		"OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1",
		// One arena per thread would reserve 64 MiB of address space each.
		"MALLOC_ARENA_MAX=2",
	}
}

func (s settings) renewAge() time.Duration { return time.Duration(s.RenewSeconds) * time.Second }

// unreachable says why a path leads to no file for this user: which part of it
// may not be passed, or which link leads nowhere.
func unreachable(path string, err error) string {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Sprintf("user %d may not pass %s", os.Getuid(), closedPart(path))
	}
	if target, linkErr := os.Readlink(path); linkErr == nil {
		return fmt.Sprintf("it is a link to %s, which is not there; `make build` makes it anew", target)
	}
	return "it is not there; `make build` makes it"
}

// mostLinks bounds a chain of links.
const mostLinks = 16

// closedPart is the first folder on the way to a path that this user may not
// pass, links followed.
func closedPart(path string) string {
	for range mostLinks {
		for at := "/"; ; {
			if _, err := os.Lstat(filepath.Join(at, "x")); errors.Is(err, fs.ErrPermission) {
				return at
			}
			rest, err := filepath.Rel(at, filepath.Dir(path))
			if err != nil || rest == "." {
				break
			}
			part, _, _ := strings.Cut(rest, "/")
			at = filepath.Join(at, part)
		}
		target, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return path
}
