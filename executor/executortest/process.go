package executortest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire"
	"github.com/sluice-gateway/sluice/executor/wire/executorpb"
)

// Program is a plugin's program, to be run as the gateway would run it, but
// without the gateway's walls around it.
type Program struct {
	Path     string   // of an executable file
	Args     []string // after the path
	Env      []string // "NAME=value", beyond the bare environment that the gateway gives
	Settings []byte   // a JSON object; empty: {}
}

func (p Program) settings() []byte {
	if len(p.Settings) == 0 {
		return []byte("{}")
	}
	return p.Settings
}

// host is who speaks to plugins: its certificate is the one that they accept.
type host struct {
	cert tls.Certificate
	pem  string
}

// newHost makes a certificate as the gateway does.
func newHost() (*host, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "localhost", Organization: []string{"conformance"}},
		DNSNames: []string{"localhost"}, NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(24 * time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageKeyAgreement | x509.KeyUsageCertSign,
		IsCA:        true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	return &host{
		cert: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		pem:  string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
	}, nil
}

// launching is how a process is started; the zero value is how the gateway does
// it.
type launching struct {
	wrapper  []string // a command that runs "$@"
	dir      string
	env      []string // over what is there
	without  string   // a name that is left out of the environment
	keepPipe bool     // the wrapper holds the guard's other end, as descriptor 4
}

// process is a plugin's process. end must be called.
type process struct {
	cmd    *exec.Cmd
	pid    int // of the plugin, or of its wrapper
	base   string
	guard  *os.File
	inodes map[string]string // of its pipes: what they are, to what /proc calls them

	out, err *record
	line     chan string   // the first line of standard output
	heard    chan struct{} // closed when standard output has ended
	gone     chan struct{}
	state    *os.ProcessState // when gone is closed

	address string
	pinned  []byte // the plugin's own certificate, DER
	conn    *grpc.ClientConn
	client  *wire.Client
	early   time.Duration // that Describe took
	about   executor.Description
}

// record keeps the first bytes that were written.
type record struct {
	mu   sync.Mutex
	text []byte
}

const recordBytes = 4 << 20

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text = append(r.text, p[:min(len(p), recordBytes-len(r.text))]...)
	return len(p), nil
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return string(r.text)
}

func (p *process) sockets() string { return filepath.Join(p.base, "s") }

// spawn starts the program and does not wait for anything.
func (h *host) spawn(program Program, how launching) (_ *process, err error) {
	p := &process{out: &record{}, err: &record{}, line: make(chan string, 1), gone: make(chan struct{}), heard: make(chan struct{}), inodes: map[string]string{}}
	if p.base, err = os.MkdirTemp("", "kit"); err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	for _, name := range []string{"s", "d", "t"} {
		if err := os.Mkdir(filepath.Join(p.base, name), 0o700); err != nil {
			return nil, errors.Join(fmt.Errorf("make a folder: %w", err), os.RemoveAll(p.base))
		}
	}
	command := append(append([]string(nil), how.wrapper...), append([]string{program.Path}, program.Args...)...)
	p.cmd = exec.Command(command[0], command[1:]...)
	p.cmd.Dir = how.dir
	p.cmd.Env = h.environment(p, program, how)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.launch(how); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", program.Path, err), os.RemoveAll(p.base))
	}
	p.pid = p.cmd.Process.Pid
	return p, nil
}

func (h *host) environment(p *process, program Program, how launching) (env []string) {
	hs := wire.Handshake()
	all := append([]string{
		hs.MagicCookieKey + "=" + hs.MagicCookieValue, "PLUGIN_PROTOCOL_VERSIONS=1", "PLUGIN_CLIENT_CERT=" + h.pem,
		"PLUGIN_UNIX_SOCKET_DIR=" + p.sockets(), wire.EnvGuardFD + "=3", wire.EnvLogLevel + "=info", "LANG=C.UTF-8", "TZ=UTC",
		"TMPDIR=" + filepath.Join(p.base, "t"), "HOME=" + filepath.Join(p.base, "d"),
	}, append(program.Env, how.env...)...)
	for _, entry := range all {
		if name, _, _ := strings.Cut(entry, "="); name != how.without {
			env = append(env, entry)
		}
	}
	return env
}

// launch makes the pipes, and the process on their other ends.
func (p *process) launch(how launching) error {
	var ends [3][2]*os.File
	for i, name := range []string{"handshake", "standard error", "guard"} {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		ends[i] = [2]*os.File{r, w}
		p.inodes[name], _ = os.Readlink(fmt.Sprintf("/proc/self/fd/%d", r.Fd()))
		_ = syscall.SetNonblock(int(r.Fd()), false)
	}
	out, errs, guard := ends[0], ends[1], ends[2]
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.ExtraFiles = out[1], errs[1], []*os.File{guard[0]}
	if how.keepPipe {
		p.cmd.ExtraFiles = append(p.cmd.ExtraFiles, guard[1])
	}
	err := p.cmd.Start()
	for _, f := range []*os.File{out[1], errs[1], guard[0]} {
		_ = f.Close()
	}
	if err != nil || how.keepPipe {
		_ = guard[1].Close()
	} else {
		p.guard = guard[1]
	}
	if err != nil {
		_, _ = out[0].Close(), errs[0].Close()
		return err
	}
	go func() { _, _ = io.Copy(p.err, errs[0]); _ = errs[0].Close() }()
	go func() { defer close(p.heard); p.readOut(out[0]) }()
	go func() {
		_ = p.cmd.Wait() // the state tells
		p.state = p.cmd.ProcessState
		close(p.gone)
	}()
	return nil
}

// readOut hands on the first line, and records everything.
func (p *process) readOut(out *os.File) {
	defer out.Close()
	defer close(p.line)
	r := bufio.NewReaderSize(io.TeeReader(out, p.out), 64<<10)
	line, err := r.ReadSlice('\n')
	if err == nil {
		p.line <- strings.TrimSuffix(string(line), "\n")
	}
	_, _ = io.Copy(io.Discard, r)
}

// handshake awaits the line by which the plugin says where it listens.
func (p *process) handshake(limit time.Duration) error {
	select {
	case line, ok := <-p.line:
		if !ok {
			select { // its output has ended: most often because it did
			case <-p.gone:
			case <-time.After(tolerance):
			}
			return fmt.Errorf("there is no handshake line; %s", p.fate())
		}
		return p.parse(line)
	case <-p.gone:
		select {
		case line, ok := <-p.line:
			if ok {
				return p.parse(line)
			}
		case <-time.After(tolerance):
		}
		return fmt.Errorf("there is no handshake line; %s", p.fate())
	case <-time.After(limit):
		return fmt.Errorf("no handshake line within %s; %s", limit, p.fate())
	}
}

// fate says how the process stands, with its last words.
func (p *process) fate() string {
	state := "the process lives"
	select {
	case <-p.gone:
		state = "the process ended: " + p.state.String()
	default:
	}
	const most = 400
	words := strings.TrimSpace(p.err.String())
	if len(words) > most {
		words = "…" + words[len(words)-most:]
	}
	if words == "" {
		return state + ", without a word on its standard error"
	}
	return state + ", and said: " + words
}

// handshakeFields are those of the line: core version, contract version,
// network, address, protocol and certificate; more may follow.
const handshakeFields = 6

func (p *process) parse(line string) error {
	parts := strings.Split(line, "|")
	if len(parts) < handshakeFields || parts[0] != "1" || parts[1] != "1" || parts[2] != "unix" || parts[4] != "grpc" {
		return fmt.Errorf("the handshake line is %.200q, want 1|1|unix|PATH|grpc|CERTIFICATE", line)
	}
	p.address = parts[3]
	der, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(parts[5], "="))
	if err != nil || len(der) == 0 {
		return errors.New("the handshake line holds no certificate, and one was asked for (PLUGIN_CLIENT_CERT)")
	}
	p.pinned = der
	return nil
}

// dial opens a connection; with no certificate of the host's, if without is set.
func (h *host) dial(p *process, without bool) (*grpc.ClientConn, error) {
	cert, err := x509.ParseCertificate(p.pinned)
	if err != nil {
		return nil, fmt.Errorf("read the plugin's certificate: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(cert)
	config := &tls.Config{RootCAs: roots, ServerName: "localhost", MinVersion: tls.VersionTLS12}
	if !without {
		config.Certificates = []tls.Certificate{h.cert}
	}
	address := p.address
	options := append(wire.HostDialOptions(), grpc.WithTransportCredentials(credentials.NewTLS(config)),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", address)
		}))
	return grpc.NewClient("passthrough:///plugin", options...)
}

// Limits of the way to health.
const (
	handshakeTime = 5 * time.Second
	warmTime      = 45 * time.Second // an interpreter may load its libraries
)

// meet connects and asks what the plugin is.
func (h *host) meet(ctx context.Context, p *process) error {
	if err := p.handshake(handshakeTime + tolerance); err != nil {
		return err
	}
	conn, err := h.dial(p, false)
	if err != nil {
		return err
	}
	p.conn, p.client = conn, wire.NewClient(conn)
	began := time.Now()
	if p.about, err = p.client.Describe(ctx, "verify", "samples"); err != nil {
		return fmt.Errorf("%w; %s", err, p.fate())
	}
	p.early = time.Since(began)
	return nil
}

// settle hands over the settings and waits for health.
func (p *process) settle(ctx context.Context, program Program, level string, secrets map[string][]byte) error {
	if _, err := p.client.Configure(ctx, executor.Config{
		JSON: program.settings(), StateDir: filepath.Join(p.base, "d"), LogLevel: level, Secrets: secrets,
	}); err != nil {
		return fmt.Errorf("%w; %s", err, p.fate())
	}
	last := "no answer"
	if within(warmTime, func() bool {
		health, err := p.client.Health(ctx, true)
		if err != nil {
			last = err.Error()
			return ctx.Err() != nil || p.isGone()
		}
		last = health.State.String() + " " + health.Detail
		return health.State == wire.HealthReady || health.State == wire.HealthFailed
	}) && strings.HasPrefix(last, wire.HealthReady.String()) {
		return nil
	}
	return fmt.Errorf("it does not become healthy: %s; %s", last, p.fate())
}

func (p *process) isGone() bool {
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}

// raw is the bare contract.
func (p *process) raw() executorpb.ExecutorClient { return executorpb.NewExecutorClient(p.conn) }

// end kills what is left and removes it.
func (p *process) end() {
	if p.conn != nil {
		_ = p.conn.Close()
	}
	left := descendants(p.pid)
	_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	for _, pid := range left {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	if p.guard != nil {
		_ = p.guard.Close()
	}
	<-p.gone
	_ = os.RemoveAll(p.base)
}

// lines are what it wrote on its standard error, whole lines.
func (p *process) lines() [][]byte {
	text := []byte(p.err.String())
	end := bytes.LastIndexByte(text, '\n')
	if end < 0 {
		return nil
	}
	return bytes.Split(text[:end], []byte("\n"))
}
