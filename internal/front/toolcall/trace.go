package toolcall

import (
	"crypto/rand"
	"encoding/hex"
	"regexp"
	"strings"
)

var traceparent = regexp.MustCompile(`^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$`)

// ChildTrace is the trace context of our own span under the one that was sent;
// empty when none, or no valid one, was sent.
func ChildTrace(sent []string) string {
	if len(sent) != 1 {
		return ""
	}
	part := traceparent.FindStringSubmatch(sent[0])
	switch {
	case part == nil, part[1] == "ff", part[1] == "00" && part[5] != "":
		return ""
	case strings.Trim(part[2], "0") == "", strings.Trim(part[3], "0") == "":
		return ""
	}
	var span [8]byte
	_, _ = rand.Read(span[:]) // never fails
	span[0] |= 1              // a span id of zeros is none
	return "00-" + part[2] + "-" + hex.EncodeToString(span[:]) + "-" + part[4]
}
