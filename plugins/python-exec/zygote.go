package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"
)

// zygote is one interpreter that has everything imported and forks on command.
// It runs no submission. Its socket carries packets: one JSON object, ready, when
// it is warm; from then on asks for forks one way (see appendAsk) and reports the
// other way, in the machine's byte order (see runtime/forks.py for the reason).
type zygote struct {
	ground ground

	proc  *process
	sock  *net.UnixConn
	about ready
	log   *slog.Logger
	born  time.Time
	mark  string        // of the environment that it imported from
	dead  chan struct{} // closed when the socket is

	mu      sync.Mutex
	next    uint64
	waiting map[uint64]chan forkReply
	alive   map[uint64]*child
	retired bool
	worn    bool // due for replacement whatever its age
}

// The ways in which children are kept apart, as ready.Apart has them.
const (
	byUID       = "uid"
	byNamespace = "pid namespace"
	byGroup     = "process group"
)

// ready is a zygote's first report.
type ready struct {
	Python    string            `json:"python"`
	BaseBytes uint64            `json:"base_bytes"` // of address space
	RSSBytes  uint64            `json:"rss_bytes"`
	Libraries map[string]string `json:"libraries"`
	Apart     string            `json:"apart"` // one of byUID, byNamespace, byGroup: see runtime/apart.py
	UIDs      bool              `json:"uids"`  // each child gets a uid of its own
}

// report is what a zygote tells of one fork: its number, 8 bytes; what happened,
// 4; then 4 bytes of a process's number, an error's, or how a process ended, which
// struct rusage follows.
type report struct {
	id     uint64
	what   happened
	number int32
	cpu    time.Duration
	rss    uint64 // bytes
}

type happened uint32

const (
	hasForked happened = 'F' // a pidfd comes along
	hasFailed happened = 'R'
	hasEnded  happened = 'E'
)

// Bytes of a report, without and with the usage, of which some is read.
const (
	reportBytes = 16
	usageBytes  = 144
	usageRead   = 40
)

type forkReply struct {
	pidfd *os.File
	err   error
}

const readyBytes = 16 << 10

// forkWithin bounds the time that an interpreter takes to fork; one that takes
// longer is stopped or stuck, and is replaced.
const forkWithin = 5 * time.Second

var (
	errZygote = errors.New("the interpreter is gone")
	errSilent = errors.New("the interpreter does not answer")
)

// startZygote starts an interpreter and waits until it is warm.
func startZygote(ctx context.Context, g ground, log *slog.Logger) (*zygote, error) {
	ours, theirs, err := socketPair(unix.SOCK_SEQPACKET)
	if err != nil {
		return nil, err
	}
	sock, err := packetConn(ours)
	if err != nil {
		theirs.Close()
		return nil, err
	}
	bundle, err := bundleFile(g.plan)
	if err != nil {
		closeAll([]io.Closer{sock, theirs})
		return nil, err
	}
	words, err := newLastWords(log)
	if err != nil {
		closeAll([]io.Closer{sock, theirs, bundle})
		return nil, err
	}
	proc, err := g.start(theirs, bundle, words.write)
	closeAll([]io.Closer{theirs, bundle, words.write}) // the interpreter's alone: their end is its end
	if err != nil {
		sock.Close()
		return nil, err
	}
	z := &zygote{
		ground: g, proc: proc, sock: sock, log: log, born: time.Now(), mark: environmentMark(g.path), dead: make(chan struct{}),
		waiting: map[uint64]chan forkReply{}, alive: map[uint64]*child{},
	}
	if err := z.awaitReady(ctx); err != nil {
		z.kill()
		return nil, fmt.Errorf("%w%s", err, words.tail())
	}
	go z.listen()
	return z, nil
}

func (z *zygote) awaitReady(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = z.sock.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	packet, pidfd, err := z.receive(make([]byte, readyBytes))
	if pidfd != nil {
		pidfd.Close()
	}
	if err == nil {
		err = json.Unmarshal(packet, &z.about, json.RejectUnknownMembers(true))
	}
	if err != nil {
		return fmt.Errorf("start the interpreter: %w", errors.Join(context.Cause(ctx), err))
	}
	return nil
}

// receive reads one packet and the descriptor that came with it, if any.
func (z *zygote) receive(buf []byte) ([]byte, *os.File, error) {
	oob := make([]byte, unix.CmsgSpace(4*8))
	n, oobn, flags, _, err := z.sock.ReadMsgUnix(buf, oob)
	if err != nil {
		return nil, nil, err
	}
	fd, err := oneDescriptor(oob[:oobn])
	switch {
	case err != nil:
		return nil, nil, err
	case n == 0:
		return nil, fd, io.EOF
	case flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0:
		return nil, fd, fmt.Errorf("%w: packet is too long", errFrame)
	}
	return buf[:n], fd, nil
}

func parseReport(packet []byte) (report, error) {
	if len(packet) < reportBytes {
		return report{}, fmt.Errorf("%w: report of %d bytes", errFrame, len(packet))
	}
	order := binary.NativeEndian
	r := report{
		id: order.Uint64(packet), what: happened(order.Uint32(packet[8:])),
		number: int32(order.Uint32(packet[12:])), //nolint:gosec // it is one
	}
	usage, want := packet[reportBytes:], 0
	switch r.what {
	case hasForked, hasFailed:
	case hasEnded:
		want = usageBytes
	default:
		return report{}, fmt.Errorf("%w: report of kind %q", errFrame, rune(r.what))
	}
	if len(usage) != want {
		return report{}, fmt.Errorf("%w: report of kind %q with %d bytes", errFrame, rune(r.what), len(packet))
	}
	if want > 0 {
		r.cpu, r.rss = used(usage)
	}
	return r, nil
}

// used reads a struct rusage: seconds and microseconds of user and of system time,
// then the peak in KiB. What is beyond all bounds is clamped.
func used(usage []byte) (cpu time.Duration, rss uint64) {
	words := make([]uint64, 0, usageRead/8)
	for at := 0; at < usageRead; at += 8 {
		words = append(words, min(binary.NativeEndian.Uint64(usage[at:]), 1<<30))
	}
	cpu = time.Duration(words[0]+words[2])*time.Second + time.Duration(words[1]+words[3])*time.Microsecond //nolint:gosec // clamped
	return cpu, words[4] << 10
}

// listen takes the zygote's reports until its socket ends; then every child of
// it counts as lost.
func (z *zygote) listen() {
	buf := make([]byte, reportBytes+usageBytes)
	for {
		packet, pidfd, err := z.receive(buf)
		var r report
		if err == nil {
			r, err = parseReport(packet)
		}
		if err != nil {
			if pidfd != nil {
				pidfd.Close()
			}
			break
		}
		z.take(r, pidfd)
	}
	z.kill()
	z.mu.Lock()
	waiting, alive := z.waiting, z.alive
	z.waiting, z.alive = map[uint64]chan forkReply{}, map[uint64]*child{}
	z.mu.Unlock()
	close(z.dead)
	for _, reply := range waiting {
		reply <- forkReply{err: errZygote}
	}
	for _, c := range alive {
		c.finish(exit{lost: true})
	}
}

func (z *zygote) take(r report, pidfd *os.File) {
	switch r.what {
	case hasForked:
		z.answer(r.id, forkReply{pidfd: pidfd})
		return
	case hasFailed:
		z.answer(r.id, forkReply{err: fmt.Errorf("fork a child: %w", syscall.Errno(r.number))}) //nolint:gosec // an error's number
	case hasEnded:
		z.mourn(r)
	}
	if pidfd != nil {
		pidfd.Close()
	}
}

// answer hands a reply to the fork that waits for it.
func (z *zygote) answer(id uint64, r forkReply) {
	z.mu.Lock()
	reply, ok := z.waiting[id]
	delete(z.waiting, id)
	z.mu.Unlock()
	switch {
	case ok && r.err == nil && r.pidfd == nil:
		reply <- forkReply{err: fmt.Errorf("%w: fork without a descriptor", errFrame)}
	case ok:
		reply <- r
	case r.pidfd != nil:
		r.pidfd.Close()
	}
}

// mourn records the end of a child, and ends a retired zygote with its last.
func (z *zygote) mourn(r report) {
	z.mu.Lock()
	c, ok := z.alive[r.id]
	delete(z.alive, r.id)
	last := z.retired && len(z.alive) == 0
	z.mu.Unlock()
	if ok {
		c.finish(exit{status: syscall.WaitStatus(r.number), rss: r.rss, cpu: r.cpu}) //nolint:gosec // bits
	}
	if last {
		z.sock.Close()
	}
}

// appendAsk asks for a fork: its number, 8 bytes; its uid, 4; whether it is for a
// session, 1.
func appendAsk(buf []byte, id uint64, uid int, session bool) []byte {
	buf = binary.NativeEndian.AppendUint64(buf, id)
	buf = binary.NativeEndian.AppendUint32(buf, uint32(uid)) //nolint:gosec // a uid
	if session {
		return append(buf, 1)
	}
	return append(buf, 0)
}

// fork asks for a child of the given uid (0: the zygote's own) that gets the
// files as its control socket, stdin, stdout and stderr. With session it becomes
// a session's keeper: see sessionhouse.go.
func (z *zygote) fork(c *child, uid int, files []*os.File, session bool) (*os.File, error) {
	fds := make([]int, 0, len(files))
	for _, f := range files {
		fds = append(fds, int(f.Fd()))
	}
	z.mu.Lock()
	if z.retired {
		z.mu.Unlock()
		return nil, errZygote
	}
	z.next++
	id, reply := z.next, make(chan forkReply, 1)
	z.waiting[id], z.alive[id] = reply, c
	z.mu.Unlock()

	_, _, err := z.sock.WriteMsgUnix(appendAsk(nil, id, uid, session), unix.UnixRights(fds...), nil)
	if err == nil {
		var pidfd *os.File
		if pidfd, err = z.forked(reply); err == nil {
			return pidfd, nil
		}
	}
	z.mu.Lock()
	delete(z.waiting, id)
	delete(z.alive, id)
	z.mu.Unlock()
	return nil, err
}

// forked waits for the answer to a fork. A wait that is over may be this
// process's own absence, in a machine that was suspended: then the answer comes
// in the moment that is left.
func (z *zygote) forked(reply <-chan forkReply) (*os.File, error) {
	for _, wait := range []time.Duration{forkWithin - lastMoment, lastMoment} {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case got := <-reply:
			return got.pidfd, got.err
		case <-z.dead:
			return nil, errZygote
		case <-timer.C:
		}
	}
	return nil, errSilent
}

const lastMoment = time.Second

// due says whether the zygote should be renewed.
func (z *zygote) due(s settings) bool {
	z.mu.Lock()
	defer z.mu.Unlock()
	if mark := environmentMark(z.ground.path); mark != "" && mark != z.mark {
		return true // its libraries were built anew
	}
	return z.worn || z.next >= uint64(s.RenewForks) || time.Since(z.born) > s.renewAge() //nolint:gosec // validated: not negative
}

// retire lets the children at work finish; then the zygote ends.
func (z *zygote) retire() {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.retired = true
	if len(z.alive) == 0 {
		z.sock.Close()
	}
}

// kill ends the interpreter and, by the kernel, all its children.
func (z *zygote) kill() {
	z.sock.Close()
	z.proc.kill()
}

// lastWords logs what an interpreter writes on its standard error, bounded, and
// keeps the last line for a failed start.
type lastWords struct {
	write *os.File
	mu    sync.Mutex
	last  string
	done  chan struct{}
}

const (
	mostWords     = 200 // lines logged per interpreter
	mostWordBytes = 1 << 10
)

func newLastWords(log *slog.Logger) (*lastWords, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	w := &lastWords{write: write, done: make(chan struct{})}
	go func() {
		defer read.Close()
		defer close(w.done)
		in := bufio.NewReaderSize(read, mostWordBytes)
		for count := 0; ; {
			line, err := in.ReadSlice('\n')
			if len(line) > 0 && count < mostWords {
				count++
				text := cut(fmt.Sprintf("%q", line), mostWordBytes)
				log.Warn("interpreter", "says", text)
				w.mu.Lock()
				w.last = text
				w.mu.Unlock()
			}
			if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
				return
			}
		}
	}()
	return w, nil
}

// tail is the last line, after the interpreter has ended.
func (w *lastWords) tail() string {
	select {
	case <-w.done:
	case <-time.After(time.Second):
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == "" {
		return ""
	}
	return ": " + w.last
}
