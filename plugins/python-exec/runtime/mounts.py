"""A child's own /tmp, made by itself in its mount namespace while it still may."""

import os
from functools import partial

from _runtime import walls

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT = 1, 2, 4, 8, 32
MS_BIND, MS_MOVE, MS_REC, MS_PRIVATE = 1 << 12, 1 << 13, 1 << 14, 1 << 18
INODES = 1024


def mounting(source, target, kind, flags, data=None):
    """That mount as a call that is made ready."""
    text = [None if word is None else os.fsencode(word) for word in (source, target, kind)]
    return partial(walls.mount, *text, walls.word(flags), None if data is None else data.encode())


def private_tmp(size, under):
    """A function that puts an empty file system over /tmp, which the mount namespace
    that it is called in alone has.

    ``under`` are directories and files below /tmp that the interpreter needs
    (where it lies there): they stay visible, read-only.
    """
    place = "/tmp/.private" if under else "/tmp"
    own = mounting(None, "/", None, MS_REC | MS_PRIVATE)
    new = mounting("tmpfs", place, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
                   "size=%d,nr_inodes=%d,mode=1777" % (size, INODES))
    move = mounting(place, "/tmp", None, MS_MOVE)
    fail = walls.fail

    def hide_tmp():
        if own() != 0:
            fail()
        if under:
            os.makedirs(place, exist_ok=True)
        if new() != 0:
            fail()
        if under:
            for path in under:
                show(path, place + path.removeprefix("/tmp"))
            if move() != 0:
                fail()

    return hide_tmp


def mount(*what):
    if mounting(*what)() != 0:
        walls.fail()


def show(path, at):
    """Makes what is at one place visible at another, for reading."""
    umask = os.umask(0o022)
    os.makedirs(os.path.dirname(at), exist_ok=True)
    if os.path.islink(path):
        os.symlink(os.readlink(path), at)
    else:
        if os.path.isdir(path):
            os.mkdir(at)
        else:
            open(at, "x").close()
        mount(path, at, None, MS_BIND | MS_REC)
        mount(None, at, None, MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV)
    os.umask(umask)
