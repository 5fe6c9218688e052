package executortest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"os"
	"syscall"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire"
)

func operationChecks() []check {
	return []check{
		{"O03", "counters never fall", checkCounters, false},
		{"O05", "at rest it uses no processor", checkRest, false},
	}
}

func checkSignals(r reporter, s *suite) {
	ctx, cancel := checkContext()
	defer cancel()
	p := s.healthy(ctx, r, launching{}, "info", nil)
	defer p.end()
	other := s.on(p)
	code := other.sample(r, "ok").Code
	running := other.parsed(ctx, r, code)
	defer running.Close()
	_ = syscall.Kill(p.pid, syscall.SIGINT)
	_ = syscall.Kill(p.pid, syscall.SIGTERM)
	within(time.Second, func() bool {
		h, err := p.client.Health(ctx, false)
		return p.isGone() || err == nil && h.State == wire.HealthDraining
	})
	res, err := running.Run(ctx, everything(executor.Limits{}), new(outcome).take)
	if err != nil || res.Status != executor.StatusOK {
		r.Errorf("the submission that was with it ended %s, %v", res.Status, err)
	}
}

func checkCounters(r reporter, s *suite) {
	ctx, cancel := checkContext()
	defer cancel()
	code := s.sample(r, "ok").Code
	last, err := s.host.Stats(ctx)
	if err != nil {
		r.Fatalf("%v", err)
	}
	for range 3 {
		s.run(ctx, r, code, executor.Limits{})
		s.idle(ctx, r)
		now, err := s.host.Stats(ctx)
		if err != nil {
			r.Fatalf("%v", err)
		}
		if now.Submissions <= last.Submissions || now.Results["OK"] <= last.Results["OK"] {
			r.Errorf("a run was not counted: %d submissions, then %d; %d OK, then %d",
				last.Submissions, now.Submissions, last.Results["OK"], now.Results["OK"])
		}
		if now.OutputBytes < last.OutputBytes || now.CPU < last.CPU || now.Uptime < last.Uptime {
			r.Errorf("a counter fell: %+v, then %+v", last, now)
		}
		const century = 100 * 365 * 24 * time.Hour
		if now.Uptime > century || now.CPU > century || now.Inflight != 0 {
			r.Errorf("a counter is out of reason: %+v", now)
		}
		last = now
	}
}

// checkRest wants one quiet second out of a few: what a run left behind may
// take a moment.
func checkRest(r reporter, s *suite) {
	const window, most, windows = time.Second, 5 * time.Millisecond, 6
	s.mustBeProcess(r)
	var used time.Duration
	for range windows {
		pids := family(s.proc.pid)
		before := processorTime(pids)
		time.Sleep(window)
		if used = processorTime(pids) - before; used <= most {
			return
		}
	}
	r.Errorf("it used %s in %s, more than %s", used, window, most)
}

// checkLog reads what a process of its own writes, at the lowest level and at
// the highest.
func checkLog(r reporter, s *suite) {
	ctx, cancel := checkContext()
	defer cancel()
	secret := rand.Text() + rand.Text()
	loud := s.logged(ctx, r, "trace", secret)
	texts := map[string]string{"the value of a secret": secret}
	for _, l := range loud.about.Languages {
		for _, sample := range l.Samples {
			for _, line := range bytes.Split(sample.Code, []byte("\n")) {
				const telling = 12
				if line = bytes.TrimSpace(line); len(line) >= telling {
					texts["the text of a program (sample "+sample.Kind+")"] = string(line)
				}
			}
		}
	}
	for _, line := range loud.lines {
		for what, text := range texts {
			if bytes.Contains(line, []byte(text)) {
				r.Errorf("%s is in the log: %.300q", what, line)
			}
		}
		if level, ok := levelOf(line); !ok {
			r.Errorf("a line of the log is no JSON object with @level and @message: %.200q", line)
		} else if level == "" {
			r.Errorf("a line of the log has no level: %.200q", line)
		}
	}
	for _, line := range s.logged(ctx, r, "error", secret).lines {
		if level, _ := levelOf(line); level != "error" {
			r.Errorf("at the level error it wrote %.200q", line)
		}
	}
}

type logged struct {
	about executor.Description
	lines [][]byte
}

// logged has a process do a little of everything at a level.
func (s *suite) logged(ctx context.Context, r reporter, level, secret string) logged {
	r.Helper()
	p := s.healthy(ctx, r, launching{env: []string{wire.EnvLogLevel + "=" + level}}, level, map[string][]byte{"conformance": []byte(secret)})
	defer p.end()
	other := s.on(p)
	for _, kind := range []string{"ok", "syntax_error", "runtime_error", "canary"} {
		for _, sample := range other.samples(kind) {
			sub, err := other.host.Submit(ctx, other.source(sample.Code))
			if err != nil {
				r.Errorf("submit: %v", err)
				continue
			}
			if sub.Ended() == nil {
				_, _ = sub.Run(ctx, everything(executor.Limits{}), new(outcome).take)
			}
			sub.Close()
		}
	}
	_ = syscall.Kill(p.pid, syscall.SIGTERM)
	within(tolerance, func() bool { return bytes.Contains([]byte(p.err.String()), []byte("SIGTERM")) })
	return logged{about: p.about, lines: p.lines()}
}

func levelOf(line []byte) (level string, ok bool) {
	var fields struct {
		Level   string  `json:"@level"`
		Message *string `json:"@message"`
	}
	if json.Unmarshal(line, &fields) != nil || fields.Message == nil {
		return "", false
	}
	return fields.Level, true
}

// checkRestarts starts and ends the plugin up to ten times, politely and not.
func checkRestarts(r reporter, s *suite) {
	const most, least, enough = 10, 3, 5 * time.Second
	mustLook(r)
	began := time.Now()
	n := 0
	for ; n < most && (n < least || time.Since(began) < enough) && !s.short || n < least; n++ {
		ctx, cancel := checkContext()
		p := s.met(ctx, r, launching{})
		cancel()
		all := family(p.pid)
		if n%2 == 0 {
			_ = p.guard.Close()
			p.guard = nil
		} else {
			_ = syscall.Kill(p.pid, syscall.SIGKILL)
		}
		gone(r, "after it was ended", all...)
		left, _ := os.ReadDir(p.base + "/t")
		p.end()
		if len(left) > 0 {
			r.Errorf("%d entries are left in the folder for temporary files", len(left))
		}
	}
	r.Notef("%d restarts", n)
}
