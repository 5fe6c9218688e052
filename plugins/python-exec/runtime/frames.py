"""Frames on a child's control socket: one byte of kind, four of length, payload.

The other end is frames.go; what the kinds mean is told there.
"""

import os
import struct

HEAD = struct.Struct(">cI")


class Closed(Exception):
    """The Go side has hung up: nothing more is wanted of this child."""


def _read(fd, size):
    parts = []
    while size:
        part = os.read(fd, min(size, 1 << 20))
        if not part:
            raise Closed
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def receive(fd, want):
    kind, size = HEAD.unpack(_read(fd, HEAD.size))
    if kind != want:
        raise Closed
    return _read(fd, size)


def head(kind, size):
    return HEAD.pack(kind, size)


def send(fd, kind, payload=b""):
    data = memoryview(head(kind, len(payload)) + payload)
    while data:
        data = data[os.write(fd, data):]
