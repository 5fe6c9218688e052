//go:build !linux

package wire

import (
	"errors"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/sluice-gateway/sluice/executor"
)

func dieWithParent() *syscall.SysProcAttr { return nil }

func socketPair() (net.Conn, *os.File, error) {
	return nil, nil, errors.New("workers need Linux")
}

func processorOf(int) time.Duration { return 0 }

func peakOf(int) uint64 { return 0 }

func peakAt(*os.ProcessState) uint64 { return 0 }

func boundProcess(int, executor.Limits) {}
