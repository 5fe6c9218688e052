package auth

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// The variables that carry the operator's token.
const (
	TokenVariable     = "SOLVER_TOKEN"
	TokenFileVariable = "SOLVER_TOKEN_FILE"
)

const maxTokenBytes = 4096

// ErrNoToken is LoadToken's error when nothing names a token.
var ErrNoToken = errors.New("no token: set " + TokenVariable + " to a long random text, or " + TokenFileVariable +
	" to the path of a file that holds it (mode 0600)")

// LoadToken reads the operator's token from SOLVER_TOKEN or from the file that
// SOLVER_TOKEN_FILE names; configFile (auth.token_file, may be empty) is asked
// when neither is set. A variable that is set to nothing counts as not set.
//
// The error is one sentence for the operator: it names the variable or key and
// says what to do, and never holds the token.
func LoadToken(getenv func(string) string, configFile string) (string, error) {
	direct, file := getenv(TokenVariable), getenv(TokenFileVariable)
	switch {
	case direct != "" && file != "":
		return "", errors.New(TokenVariable + " and " + TokenFileVariable + " are both set: unset one of them")
	case direct != "":
		if why := unusable(direct); why != "" {
			return "", errors.New(TokenVariable + " " + why)
		}
		return direct, nil
	case file != "":
		return readTokenFile(TokenFileVariable, file)
	case configFile != "":
		return readTokenFile("auth.token_file", configFile)
	}
	return "", ErrNoToken
}

func readTokenFile(source, path string) (string, error) {
	// Not blocking: a path may name a pipe, which is refused below.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", fmt.Errorf("read the token file of %s: %w", source, err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", fmt.Errorf("read the token file of %s: %w", source, err)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s names %q, which is not a regular file: name a file that holds the token", source, path)
	case info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("%s names %q, which others may use (mode %04o): run chmod 600 on it", source, path, info.Mode().Perm())
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxTokenBytes+3))
	if err != nil {
		return "", fmt.Errorf("read the token file of %s: %w", source, err)
	}
	token := string(trimNewline(raw))
	if why := unusable(token); why != "" {
		return "", fmt.Errorf("the token in the file %q of %s %s", path, source, why)
	}
	return token, nil
}

func trimNewline(raw []byte) []byte {
	raw = bytes.TrimSuffix(raw, []byte("\n"))
	return bytes.TrimSuffix(raw, []byte("\r"))
}

// unusable says why a token cannot be used, as the end of a sentence; empty
// when it can.
func unusable(token string) string {
	beyond := func(r rune) bool { return r <= ' ' || r > '~' }
	switch {
	case token == "":
		return "is empty: put a long random text there"
	case len(token) > maxTokenBytes:
		return fmt.Sprintf("is longer than %d bytes: use a shorter one", maxTokenBytes)
	case strings.ContainsFunc(token, beyond):
		return "holds a space, a control character or a character beyond ASCII: use printable ASCII without spaces"
	}
	return ""
}
