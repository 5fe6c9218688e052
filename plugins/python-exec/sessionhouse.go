package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/sandbox"
)

// house is a session's keeper and the processes it is the parent of: those of
// one session and of its forks. The keeper runs nothing of theirs; with its end
// all of them end.
type house struct {
	keeper *child
	pid    int // the keeper's, as this process sees it

	charged uint64 // to its control group before it came
	took    uint64 // bytes, by its first image for itself before the first cell

	steps sync.Mutex // held while one of its processes may copy itself

	mu      sync.Mutex
	permits map[int]bool // the processes that may copy themselves now, once
	tenants int
	images  map[int]*image // by the number that the keeper knows them by
	early   map[int]exit   // ends of processes that are not known yet
	gone    bool
}

// mostEarly bounds the ends that are kept for processes not known yet.
const mostEarly = 64

// ended is the keeper's report on one process.
type ended struct {
	PID      int    `json:"pid"`
	Status   uint32 `json:"status"`
	CPUMicro uint64 `json:"cpu_us"`
	RSSBytes uint64 `json:"rss_bytes"`
}

const endedBytes = 1 << 10

// newHouse starts a keeper, of the current interpreter.
func (p *pool) newHouse(ctx context.Context) (*house, error) {
	z, uid, release, err := p.place(ctx)
	if err != nil {
		return nil, err
	}
	keeper, err := z.spawn(uid, release, true)
	if err != nil {
		return nil, fmt.Errorf("start a session: %w", err)
	}
	h := &house{keeper: keeper, tenants: 1, images: map[int]*image{}, permits: map[int]bool{}, early: map[int]exit{}}
	if h.pid, err = keeper.pid(); err != nil {
		keeper.discard()
		return nil, fmt.Errorf("start a session: %w", err)
	}
	if keeper.fold != nil {
		h.charged = keeper.fold.charged
		keeper.fold.once = true
		err = keeper.fold.group.Spare()
	}
	go h.mourn()
	if err := errors.Join(err, h.tighten(executor.Limits{})); err != nil {
		h.leave()
		return nil, fmt.Errorf("start a session: %w", err)
	}
	return h, nil
}

// place waits for an interpreter and a place in it.
func (p *pool) place(ctx context.Context) (*zygote, int, func(), error) {
	defer context.AfterFunc(ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.wake.Broadcast()
	})()
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.closed && p.current == nil && ctx.Err() == nil {
		p.wake.Wait()
	}
	switch {
	case ctx.Err() != nil:
		return nil, 0, nil, context.Cause(ctx)
	case p.closed:
		return nil, 0, nil, executor.ErrOverloaded
	case len(p.slots) == 0:
		return nil, 0, nil, executor.ErrTooManySessions
	}
	uid, release := p.slot(p.current)
	return p.current, uid, release, nil
}

// mourn takes the keeper's reports until there are none.
func (h *house) mourn() {
	limits := map[kind]uint64{frameEnded: endedBytes}
	for {
		_, payload, err := readFrame(h.keeper.control, limits)
		if err != nil {
			break
		}
		var r ended
		if json.Unmarshal(payload, &r, json.RejectUnknownMembers(true)) != nil {
			break
		}
		h.record(r)
	}
	h.keeper.kill()
	h.mu.Lock()
	h.gone = true
	images := h.images
	h.images = nil
	h.mu.Unlock()
	for _, img := range images {
		img.kill()
		img.finish(exit{lost: true})
	}
}

func (h *house) record(r ended) {
	e := exit{
		status: syscall.WaitStatus(r.Status), rss: r.RSSBytes,
		cpu: time.Duration(min(r.CPUMicro, 1<<40)) * time.Microsecond, //nolint:gosec // clamped
	}
	h.mu.Lock()
	img, known := h.images[r.PID]
	delete(h.images, r.PID)
	if !known {
		if len(h.early) == mostEarly {
			clear(h.early)
		}
		h.early[r.PID] = e
	}
	h.mu.Unlock()
	if known {
		img.finish(e)
	}
}

// watch has an image told of its end.
func (h *house) watch(img *image) {
	h.mu.Lock()
	e, over := h.early[img.inner]
	delete(h.early, img.inner)
	if h.gone {
		e, over = exit{lost: true}, true
	}
	if !over {
		h.images[img.inner] = img
	}
	h.mu.Unlock()
	if over {
		img.finish(e)
	}
}

// supervise lets an image copy itself when it is to, and ends whatever makes
// another forbidden call.
func (h *house) supervise(listener *os.File) {
	err := sandbox.Supervise(context.Background(), listener, func(c sandbox.Call) bool {
		switch {
		case c.StartsThread():
			return h.keeper.threads.room(c.PID)
		case c.Copies() && h.allowed(c.PID):
			return true
		}
		h.forbid(c)
		return false
	})
	if err != nil {
		h.keeper.z.log.Error("forbidden calls are not watched for; the session is ended", "error", err)
		h.keeper.kill()
	}
}

// allow lets a process copy itself, once.
func (h *house) allow(pid int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.permits[pid] = true
}

// disallow takes the permit back; used says that there is none left to take.
func (h *house) disallow(pid int) (used bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	used = !h.permits[pid]
	delete(h.permits, pid)
	return used
}

// strays ends the processes of the house that are no images, and tells of them as an
// error: copies that were made and not handed over, which nobody would stop. The
// caller holds steps, and whoever had a permit is at rest. If the keeper's children
// cannot be looked at, the house ends.
func (h *house) strays() error {
	at := "/proc/" + strconv.Itoa(h.pid)
	text, err := os.ReadFile(at + "/task/" + strconv.Itoa(h.pid) + "/children")
	if err != nil {
		h.keeper.kill()
		return fmt.Errorf("look for copies of a session: %w", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	known := map[string]bool{}
	for _, img := range h.images {
		known[strconv.Itoa(img.pid)] = true
	}
	found := bytes.Fields(text)
	found = slices.DeleteFunc(found, func(pid []byte) bool { return known[string(pid)] })
	for _, pid := range found {
		h.endStray(string(pid))
	}
	if len(found) > 0 {
		return fmt.Errorf("%w: a copy that was not handed over", errForged)
	}
	return nil
}

// endStray ends a child of the keeper's by its number, which it has until the keeper
// has mourned it; what has it then is left alone.
func (h *house) endStray(pid string) {
	number, err := strconv.Atoi(pid)
	if err != nil {
		return
	}
	fd, err := unix.PidfdOpen(number, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	status, err := os.ReadFile("/proc/" + pid + "/status")
	if parent, fieldErr := field(status, "PPid:"); err == nil && fieldErr == nil && parent == h.pid {
		_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	}
}

// allowed uses a permit up.
func (h *house) allowed(pid int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	on := h.permits[pid]
	delete(h.permits, pid)
	return on
}

// forbid ends the process that made the call; it waits for the answer.
func (h *house) forbid(c sandbox.Call) {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(c.PID) + "/status")
	pid, fieldErr := field(status, "Tgid:")
	if err != nil || fieldErr != nil {
		h.keeper.kill() // it cannot be told who it was
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, img := range h.images {
		if img.pid == pid {
			img.forbidden.CompareAndSwap(nil, &c.Name)
			img.kill()
			return
		}
	}
	h.keeper.kill() // there should be no such process
}

// alive says whether the keeper has not been seen to end.
func (h *house) alive() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.gone && h.keeper.alive()
}

// enter makes room for one more session.
func (h *house) enter() error {
	h.mu.Lock()
	h.tenants++
	h.mu.Unlock()
	return h.tighten(executor.Limits{})
}

// tighten gives the house's control group the limits of a cell for each tenant,
// and room for what each goes back to.
func (h *house) tighten(l executor.Limits) error {
	h.keeper.threads.bound(l)
	if h.keeper.fold == nil {
		return nil
	}
	h.mu.Lock()
	tenants := uint64(h.tenants) //nolint:gosec // at most mostSessions
	h.mu.Unlock()
	limits := h.keeper.z.groupLimits(l)
	limits.Memory *= tenants + 1
	limits.Tasks = h.tasks(l)
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.keeper.fold.limit(limits)
}

// tasks is how many processes and threads there may be: the keeper, and for each
// tenant a cell's and what it goes back to.
func (h *house) tasks(l executor.Limits) uint64 {
	fill(&l.Threads, defaultThreads)
	h.mu.Lock()
	defer h.mu.Unlock()
	return 1 + uint64(h.tenants)*(2+uint64(l.Threads)+uint64(l.Processes)) //nolint:gosec // at most mostSessions
}

// kills is how many processes of the house the kernel ended for memory.
func (h *house) kills() uint64 {
	if h.keeper.fold == nil {
		return 0
	}
	n, err := h.keeper.fold.group.Kills()
	if err != nil {
		return 0
	}
	return n
}

// leave ends the house with its last tenant.
func (h *house) leave() {
	h.mu.Lock()
	h.tenants--
	last := h.tenants == 0
	h.mu.Unlock()
	if last {
		h.keeper.discard()
	}
}

// sendOrder hands files to a process by its control socket.
func sendOrder(c *child, what any, files []*os.File) error {
	text, err := json.Marshal(what)
	if err != nil {
		return fmt.Errorf("write an order: %w", err)
	}
	fds := make([]int, 0, len(files))
	for _, f := range files {
		fds = append(fds, int(f.Fd())) //nolint:gosec // a descriptor
	}
	_ = c.control.SetWriteDeadline(time.Now().Add(orderWithin))
	if _, _, err := c.control.WriteMsgUnix(text, unix.UnixRights(fds...), nil); err != nil {
		return fmt.Errorf("send an order: %w", err)
	}
	_ = c.control.SetWriteDeadline(time.Time{})
	return nil
}

// orderWithin bounds the time in which a session's process takes an order.
const orderWithin = 5 * time.Second

var errForged = errors.New("a process of the session is not what it says")

// lastWord is what a child that did not become warm wrote on its standard error,
// for the log.
func (c *child) lastWord() string {
	buf := make([]byte, mostWordBytes)
	_ = c.stderr.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	n, _ := c.stderr.Read(buf)
	select {
	case <-c.ended:
		return fmt.Sprintf(": status %#x, %q", uint32(c.end.status), buf[:n])
	case <-time.After(100 * time.Millisecond):
		return fmt.Sprintf(": %q", buf[:n])
	}
}
