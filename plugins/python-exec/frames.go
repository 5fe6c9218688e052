package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// kind is the first byte of a frame on a child's control socket. Four bytes of
// length, big endian, and the payload follow.
type kind byte

// The frames. A child waits for go and sends warmed once, with its listener
// beside it where forbidden calls are named; then, for the source and code frames,
// one of tree, compileError and tooLarge; then, for the run frame, at most one
// figure and one end. A child that stays has the next source frame instead. Anything
// else ends the child.
const (
	frameGo           kind = 'G' // host: empty
	frameWarmed       kind = 'W' // child: empty
	frameSource       kind = 'S' // host: JSON, see ask
	frameCode         kind = 'C' // host: the submission's bytes
	frameTree         kind = 'T' // child: nodes and depth, four bytes each, and the tree document
	frameCompileError kind = 'E' // child: JSON, see childProblem
	frameTooLarge     kind = 'L' // child: empty
	frameRun          kind = 'R' // host: JSON, see order
	frameFigure       kind = 'F' // child: the figure's JSON
	frameEnd          kind = 'X' // child: JSON, see end

	// Of sessions: see session.go.
	frameCompile kind = 'K' // host: JSON, see order: the parsed cell is to be made into code
	frameAliases kind = 'A' // child: JSON, what the cell's names stand for
	frameMade    kind = 'M' // child, then host: SHA-256 of the rest, the cell's code
	frameBegun   kind = 'B' // session: JSON, see begun
	frameEnded   kind = 'D' // keeper: JSON, see ended
)

// frameLimits bounds what a child may send by kind; other kinds are refused.
func frameLimits(treeBytes, artifactBytes uint64) map[kind]uint64 {
	return map[kind]uint64{
		frameWarmed: 0, frameTooLarge: 0,
		frameTree: treeBytes + 8, frameCompileError: problemBytes,
		frameFigure: artifactBytes, frameEnd: endBytes,
	}
}

// Bounds of the JSON frames.
const (
	problemBytes = 64 << 10
	endBytes     = 1 << 20
)

var errFrame = errors.New("malformed frame")

// readFrame reads one frame of at most the bytes that limits allow its kind.
// io.EOF means that the child hung up between frames.
func readFrame(r io.Reader, limits map[kind]uint64) (kind, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, fmt.Errorf("read a frame's head: %w", err)
	}
	k, size := kind(head[0]), uint64(binary.BigEndian.Uint32(head[1:]))
	limit, known := limits[k]
	switch {
	case !known:
		return 0, nil, fmt.Errorf("%w: unknown kind %q", errFrame, head[0])
	case size > limit:
		return 0, nil, fmt.Errorf("%w: kind %q has %d bytes, at most %d", errFrame, head[0], size, limit)
	}
	payload := make([]byte, size)
	if _, err := io.ReadFull(r, payload); err != nil {
		return 0, nil, fmt.Errorf("read a frame's payload: %w", err)
	}
	return k, payload, nil
}

// appendFrame appends a frame to buf.
func appendFrame(buf []byte, k kind, payload []byte) []byte {
	buf = append(buf, byte(k))
	buf = binary.BigEndian.AppendUint32(buf, uint32(len(payload))) //nolint:gosec // payloads are bounded by the submission's size
	return append(buf, payload...)
}
