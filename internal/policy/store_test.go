package policy

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// switched is a folder that a test swaps for another one.
type switched struct{ now atomic.Pointer[fstest.MapFS] }

func (s *switched) Open(name string) (fs.File, error) { return s.now.Load().Open(name) }

func TestReloadKeepsTheLastGoodPolicy(t *testing.T) {
	good, folder := files(t, "tiny"), &switched{}
	folder.now.Store(&good)
	cfg := tinyConfig(good)
	cfg.FS = folder
	s, err := Load(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	first := s.Status()
	if first.Revision == "" || !strings.HasPrefix(first.Digest, strings.TrimPrefix(first.Revision, "7-")) || len(first.Digest) != 64 {
		t.Errorf("revision %q, digest %q", first.Revision, first.Digest)
	}

	bad := files(t, "tiny")
	edit(t, bad, "tiny.rego", "input.ast.names[", "input.ast.nmaes[")
	folder.now.Store(&bad)
	if err := s.Reload(context.Background()); err == nil {
		t.Fatal("the faulty folder was put in force")
	}
	kept := s.Status()
	if kept.Revision != first.Revision || !strings.Contains(kept.LastError, "tiny.rego:13") || !kept.LastErrorAt.Equal(today()) {
		t.Errorf("status after a faulty reload: %+v", kept)
	}
	if decide(t, s, question("eval")).Allow {
		t.Error("the last good policy is not in force")
	}

	other := files(t, "tiny")
	edit(t, other, "tiny.rego", `"eval", "exec"`, `"eval", "exec", "fork"`)
	folder.now.Store(&other)
	if err := s.Reload(context.Background()); err != nil {
		t.Fatal(err)
	}
	if st := s.Status(); st.Revision == first.Revision || st.LastError != "" || !st.LastErrorAt.IsZero() {
		t.Errorf("status after a good reload: %+v", st)
	}
	if decide(t, s, question("fork")).Allow {
		t.Error("the new policy is not in force")
	}
}

// A request holds one policy from its first stage to its last: its decisions
// all name that revision, whatever is put in force meanwhile.
func TestDecisionsUnderReloadAreOfOneRevision(t *testing.T) {
	one, two, folder := files(t, "tiny"), files(t, "tiny"), &switched{}
	edit(t, two, "tiny.rego", `"eval", "exec"`, `"fork", "eval", "exec"`)
	folder.now.Store(&one)
	cfg := tinyConfig(one)
	cfg.FS = folder
	s, err := Load(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	strict := map[string]bool{s.Status().Revision: false} // does it refuse fork?
	folder.now.Store(&two)
	if err := s.Reload(context.Background()); err != nil {
		t.Fatal(err)
	}
	strict[s.Status().Revision] = true

	ctx, stop := context.WithCancel(context.Background())
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for ctx.Err() == nil {
				p, err := s.Current()
				if err != nil {
					t.Error(err)
					return
				}
				d, err := p.Decide(context.Background(), question("fork"))
				if err != nil || d.Revision != p.Revision() || d.Allow == strict[d.Revision] {
					t.Errorf("revision %s decided %+v, %v", p.Revision(), d, err)
					return
				}
			}
		})
	}
	for i := range 20 {
		folder.now.Store([]*fstest.MapFS{&one, &two}[i%2])
		if err := s.Reload(context.Background()); err != nil {
			t.Error(err)
		}
	}
	stop()
	group.Wait()
}

func TestBeforeTheFirstGoodLoadThereIsNoPolicy(t *testing.T) {
	s, err := Load(context.Background(), Config{FS: fstest.MapFS{}, SkipCorpus: true})
	if err == nil || !strings.Contains(err.Error(), "no main.rego") {
		t.Errorf("load: %v", err)
	}
	if _, err := s.Current(); !errors.Is(err, gateway.ErrNoPolicy) {
		t.Errorf("current: %v", err)
	}
	if st := s.Status(); st.Revision != "" || st.LastError == "" {
		t.Errorf("status: %+v", st)
	}
}

func TestStatusTellsWhatIsInForce(t *testing.T) {
	m := files(t, "tiny")
	m["custom/more.rego"] = denyOf("# METADATA\n# custom: {languages: [tiny]}\npackage custom.more", "more", "fork")
	s := load(t, m)
	st := s.Status()
	if got := strings.Join(st.Profiles, " "); got != "lenient solve" {
		t.Errorf("profiles %q", got)
	}
	if got := strings.Join(st.Sections["tiny"], " "); got != "imports names" {
		t.Errorf("sections %q", got)
	}
	if len(st.Rules["tiny"]) != 4 || st.Rules["tiny"][0].ID != "blocked-name" || st.Rules["tiny"][0].File != "tiny.rego" || st.Rules["tiny"][0].Line == 0 {
		t.Errorf("rules %+v", st.Rules)
	}
	if len(st.Warnings) != 1 || !strings.Contains(st.Warnings[0], `"more"`) {
		t.Errorf("warnings %q", st.Warnings)
	}
	if st.Corpus != 5 || !st.LoadedAt.Equal(today()) || !strings.HasPrefix(st.Revision, "7-") || st.AdmitsAll {
		t.Errorf("status %+v", st)
	}
	if decide(t, s, question("fork")).Allow {
		t.Error("the custom rule does not run")
	}
}

func TestSectionsOfAPolicy(t *testing.T) {
	m := files(t, "tiny")
	p := current(t, load(t, m))
	if _, err := p.Sections("python"); !errors.Is(err, gateway.ErrNoPolicy) {
		t.Errorf("sections of a language without rules: %v", err)
	}
	if got, err := p.Sections("tiny"); err != nil || len(got) != 2 {
		t.Errorf("sections: %q, %v", got, err)
	}
}

func TestReferencesThatReadAnySection(t *testing.T) {
	for name, reference := range map[string]string{
		"bare":    "count(input.ast) > 9",
		"dynamic": "some section in [\"names\"]\n\tinput.ast[section].fork",
		"input":   "count(input) > 99",
		"member":  "some member in [\"ast\"]\n\tinput[member].names.fork",
	} {
		t.Run(name, func(t *testing.T) {
			m := files(t, "tiny")
			edit(t, m, "tiny.rego", "input.code.lines > 9", "input.code.lines > 9\n\nmore if {\n\t"+reference+"\n}\n")
			edit(t, m, "tiny.rego", "grants contains", "grants contains \"import:cmath\" if more\n\ngrants contains")
			cfg := tinyConfig(m)
			cfg.Parse = func(_ context.Context, _ string, code []byte, sections []string) (executor.Tree, *executor.Result, error) {
				if sections != nil {
					t.Errorf("asked for %q", sections)
				}
				return wholeTree(code), nil, nil
			}
			s, err := Load(context.Background(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			q := question("eval")
			if _, err := current(t, s).Decide(context.Background(), q); !errors.Is(err, gateway.ErrPluginFault) {
				t.Errorf("decide without the other sections: %v", err)
			}
			q.Tree = wholeTree(q.Source.Code)
			if decide(t, s, q).Allow {
				t.Error("eval is allowed")
			}
		})
	}
}

// wholeTree is the document with every section.
func wholeTree(code []byte) executor.Tree {
	tree, _, _ := parseTiny(context.Background(), "tiny", code, nil)
	value, err := readJSON(tree.JSON)
	if err != nil {
		panic(err)
	}
	doc := value.(map[string]any)
	sections := doc[keyAST].(map[string]any)
	sections["tree"], sections["truncated"] = map[string]any{}, map[string]any{}
	return executor.Tree{Schema: "tiny/1", JSON: marshal(doc)}
}

func TestAdmitAllIsLoudAndSaysSo(t *testing.T) {
	var log bytes.Buffer
	m := fstest.MapFS{"main.rego": &fstest.MapFile{Data: []byte(admitAllRego)}}
	cfg := Config{FS: m, Parse: parseTiny, Languages: []executor.Language{tinyLanguage(files(t, "tiny"))}, Log: slog.New(slog.NewTextHandler(&log, nil))}
	s, err := Load(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "ADMITS EVERY PROGRAM") || !s.Status().AdmitsAll {
		t.Errorf("log %q, status %+v", log.String(), s.Status())
	}
	d := decide(t, s, question("eval"))
	if !d.Allow || d.Profile != "admit-all" || len(d.Grants) != 2 || !strings.HasPrefix(d.ID, "d_") || len(d.ID) != 18 {
		t.Errorf("decision %+v", d)
	}
	if sections, err := current(t, s).Sections("tiny"); err != nil || sections == nil || len(sections) != 0 {
		t.Errorf("sections %v, %v: none are read", sections, err)
	}
}

const admitAllRego = `# METADATA
# custom: {admits: all}
package gateway

decision := {"allow": true, "violations": set(), "limits": {}, "grants": {"import:*", "builtin:*"}}
`

// The folder as a ConfigMap mounts it: files are links through a hidden folder.
func TestAFolderOfLinksLoads(t *testing.T) {
	dir := t.TempDir()
	for name, file := range files(t, "tiny") {
		target := filepath.Join(dir, "..data", name)
		link := filepath.Join(dir, name)
		for _, parent := range []string{filepath.Dir(target), filepath.Dir(link)} {
			if err := os.MkdirAll(parent, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		relative, err := filepath.Rel(filepath.Dir(link), target)
		if err := errors.Join(err, os.WriteFile(target, file.Data, 0o600), os.Symlink(relative, link)); err != nil {
			t.Fatal(err)
		}
	}
	cfg := tinyConfig(files(t, "tiny"))
	cfg.FS = Folder(dir)
	s, err := Load(context.Background(), cfg)
	if err == nil {
		t.Log(s.Status().Revision)
	}
	if err != nil || decide(t, s, question("eval")).Allow {
		t.Errorf("load: %v", err)
	}
}

func TestSlowDecisionsAreCounted(t *testing.T) {
	var ticks atomic.Int64
	cfg := tinyConfig(files(t, "tiny"))
	cfg.SkipCorpus = true
	cfg.Now = func() time.Time { return today().Add(time.Duration(ticks.Add(1)) * 60 * time.Millisecond) }
	s, err := Load(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	decide(t, s, question("eval"))
	if got := s.Status().Slow; got != 0 {
		t.Errorf("a decision of 60 ms counts as slow: %d", got)
	}
	cfg.Now = func() time.Time { return today().Add(time.Duration(ticks.Add(1)) * 200 * time.Millisecond) }
	s, err = Load(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	decide(t, s, question("eval"))
	if got := s.Status().Slow; got != 1 {
		t.Errorf("slow = %d", got)
	}
}

// A load that is given up says nothing about the policy.
func TestALoadThatIsGivenUpIsNoFault(t *testing.T) {
	var log strings.Builder
	m := files(t, "tiny")
	config := tinyConfig(m)
	config.Log = slog.New(slog.NewTextHandler(&log, nil))
	s, err := Load(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	log.Reset()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Reload(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("reload: %v", err)
	}
	if s.Status().LastError != "" || log.Len() > 0 {
		t.Errorf("told as a fault: %v, log %q", s.Status().LastError, log.String())
	}
}
