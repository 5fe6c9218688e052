package listener

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/coreos/go-systemd/v22/activation"
)

// Plain is the name (FileDescriptorName=) of the socket for plain HTTP; a socket
// of any other name is the public one.
const Plain = "plain"

// Sockets are those that the service manager handed over (LISTEN_FDS).
type Sockets struct{ public, plain net.Listener }

// Inherit takes what was handed over, and the variables that tell of it out of
// the environment. Two sockets for one purpose are an error, and so is one that
// does not listen. It may be called once in a process.
func Inherit() (Sockets, error) {
	told := os.Getenv("LISTEN_FDS")
	byName, err := activation.ListenersWithNames()
	if err != nil {
		return Sockets{}, fmt.Errorf("take the sockets that were handed over: %w", err)
	}
	var s Sockets
	names := make([]string, 0, len(byName))
	count := 0
	for name, list := range byName {
		names = append(names, name)
		for _, l := range list {
			count++
			if err := s.take(name, l); err != nil {
				return Sockets{}, err
			}
		}
	}
	if count > 0 && fmt.Sprint(count) != told {
		slices.Sort(names)
		return Sockets{}, fmt.Errorf("take the sockets that were handed over: of %s these listen: %s; use ListenStream= alone", told, strings.Join(names, ", "))
	}
	return s, nil
}

func (s *Sockets) take(name string, l net.Listener) error {
	to := &s.public
	if name == Plain {
		to = &s.plain
	}
	if *to != nil {
		return fmt.Errorf("take the sockets that were handed over: two are for one purpose (%s and %s); FileDescriptorName=%s marks the one for plain HTTP", (*to).Addr(), l.Addr(), Plain)
	}
	*to = l
	return nil
}

// Public is the public socket; nil: none was handed over.
func (s Sockets) Public() net.Listener { return s.public }

// Plain is the socket for plain HTTP; nil: none was handed over.
func (s Sockets) Plain() net.Listener { return s.plain }

// Listen binds address; key is the key of the configuration that names it.
func Listen(ctx context.Context, address, key string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	flag := "--" + strings.NewReplacer(".", "-", "_", "-").Replace(key)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("listen: %w; another address is set with %s HOST:PORT, SLUICE_%s or the key %s", err, flag, strings.ToUpper(strings.ReplaceAll(key, ".", "_")), key)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("listen: %w; ports below 1024 need CAP_NET_BIND_SERVICE, or a socket that systemd hands over (docs/deploying.md)", err)
	case err != nil:
		return nil, fmt.Errorf("listen: %w", err)
	}
	return l, nil
}
