package pluginhost

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// errMistrust marks what no restart will cure: the plugin goes to quarantine.
var errMistrust = errors.New("plugin is not what the configuration names")

// maxProgram bounds a plugin's program, in bytes.
const maxProgram = 512 << 20

// openProgram checks a plugin's program before a start. For a pinned one it
// gives a sealed copy in memory whose digest was checked, so that what was
// checked is what runs; for a built one nil: it is executed at its path.
func openProgram(p Plugin) (*os.File, error) {
	file, err := os.Open(p.Command)
	if err != nil {
		return nil, fmt.Errorf("open the plugin's program: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("look at the plugin's program: %w", err)
	}
	switch {
	case !info.Mode().IsRegular() || info.Mode()&0o111 == 0:
		return nil, fmt.Errorf("start %q: it is not an executable file", p.Command)
	case info.Mode()&0o002 != 0:
		return nil, fmt.Errorf("%w: everybody may write to %q", errMistrust, p.Command)
	case p.Trust == TrustBuilt:
		return nil, nil
	case info.Size() > maxProgram:
		return nil, fmt.Errorf("%w: %q has more than %d bytes", errMistrust, p.Command, maxProgram)
	}
	return sealedCopy(file, p)
}

func sealedCopy(file io.Reader, p Plugin) (_ *os.File, err error) {
	memory, err := memoryFile()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = memory.Close()
		}
	}()
	hash := sha256.New()
	if _, err := io.Copy(io.MultiWriter(memory, hash), io.LimitReader(file, maxProgram)); err != nil {
		return nil, fmt.Errorf("copy the plugin's program: %w", err)
	}
	const seals = unix.F_SEAL_SEAL | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE
	if _, err := unix.FcntlInt(memory.Fd(), unix.F_ADD_SEALS, seals); err != nil {
		return nil, fmt.Errorf("seal the copy of the plugin's program: %w", err)
	}
	want, err := hex.DecodeString(p.SHA256)
	if err != nil {
		return nil, fmt.Errorf("read the plugin's sha256: %w", err)
	}
	if got := hash.Sum(nil); !bytes.Equal(got, want) {
		return nil, fmt.Errorf("%w: the sha256 of %q is %x, and %s is pinned", errMistrust, p.Command, got, p.SHA256)
	}
	head := make([]byte, 2)
	if _, err := memory.ReadAt(head, 0); err == nil && string(head) == "#!" {
		return nil, fmt.Errorf("%w: %q is a script; its digest says nothing of what would run", errMistrust, p.Command)
	}
	return memory, nil
}

func memoryFile() (*os.File, error) {
	const flags = unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	fd, err := unix.MemfdCreate("plugin", flags|unix.MFD_EXEC)
	if errors.Is(err, unix.EINVAL) { // kernels before 6.3 do not know MFD_EXEC
		fd, err = unix.MemfdCreate("plugin", flags)
	}
	if err != nil {
		return nil, fmt.Errorf("make a file in memory: %w", err)
	}
	return os.NewFile(uintptr(fd), "plugin"), nil
}
