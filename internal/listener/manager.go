package listener

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/coreos/go-systemd/v22/daemon"
	"golang.org/x/sys/unix"
)

// Manager is the service manager that wants to be told (systemd's Type=notify).
// Without one, telling does nothing. Safe for concurrent use.
type Manager struct {
	there bool
	log   *slog.Logger
}

// NewManager finds the service manager by NOTIFY_SOCKET.
func NewManager(log *slog.Logger) *Manager {
	return &Manager{there: os.Getenv("NOTIFY_SOCKET") != "", log: log}
}

// Ready says that requests are answered; status is for people.
func (m *Manager) Ready(status string) { m.tell(daemon.SdNotifyReady + "\nSTATUS=" + status) }

// Status tells people how the start goes.
func (m *Manager) Status(status string) { m.tell("STATUS=" + status) }

// Reloading says that a reload has begun; Ready must follow it.
func (m *Manager) Reloading() {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		m.log.Warn("tell the service manager of a reload", "error", err)
		return
	}
	m.tell(fmt.Sprintf("%s\nMONOTONIC_USEC=%d", daemon.SdNotifyReloading, now.Nano()/1000))
}

// Stopping says that the end has begun.
func (m *Manager) Stopping() { m.tell(daemon.SdNotifyStopping + "\nSTATUS=finishing what runs") }

func (m *Manager) tell(state string) {
	if !m.there {
		return
	}
	if _, err := daemon.SdNotify(false, state); err != nil {
		m.log.Warn("tell the service manager", "error", err)
	}
}
