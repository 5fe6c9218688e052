"""Where the zygote's objects lie: a fork copies page tables, an exit frees them, and
each page of 4 KiB that a child writes to is copied.

So the objects lie in one piece, in pages of 2 MiB, whose tables are short (a child's
first write to one splits it and copies 4 KiB, as ever), and what a child makes lies
together. All of it is a matter of speed: where CPython or the kernel does it
otherwise, nothing is lost.
"""

import ctypes
import gc

from _runtime import walls

HUGE = 2 << 20
ARENA = 1 << 20  # what CPython takes at once for objects of at most 512 bytes
OBJECT = 460  # bytes of one that an arena holds 2,048 of, nearly
POOL, FIRST = 16 << 10, 48  # CPython has objects of one size in pools; the first lies behind their head
ROW = 8  # so many in a row from the start are no accident
MOST_FILLERS = 512 << 10  # bytes of one size
MADV_COLLAPSE = 25  # since Linux 6.1; an older kernel refuses, and nothing is lost


def room(mib):
    """Has CPython take that much for small objects in one piece, before the libraries
    that fill it scatter it among their own mappings. Nearly all of it is free again:
    what is returned, one object for each arena, holds it and is to be kept."""
    objects = [None] * (mib * 2048)  # not a list that grows: it would lie between
    for at in range(len(objects)):
        objects[at] = bytes(OBJECT)
    return {id(one) // ARENA: one for one in reversed(objects)}


def fill():
    """Fills what is free among objects that stay, up to the first pool that is empty, so
    that what a child makes comes to lie together. What is returned is to be kept."""
    kept = []
    for size in range(16, 513, 16):
        row = 0
        for _ in range(MOST_FILLERS // size):
            kept.append(filler(size, len(kept)))
            row = row + 1 if id(kept[-1]) % POOL == FIRST + row * size else 0
            if row == ROW:
                del kept[-ROW:]
                break
    return kept


def filler(size, number):
    """A new object of that size in memory."""
    if size == 16:
        return object()
    if size == 32:
        return 1000 + number  # below that there are some that are shared
    return bytes(size - 33)


def join(room):
    """Joins the pages that hold objects. To be called once, when all is warm and
    nothing is frozen yet. Returns how many large pages there are."""
    pieces = {id(thing) // HUGE for thing in gc.get_objects()}
    pieces.update(arena * ARENA // HUGE for arena in room)
    return sum(map(collapse, sorted(pieces))) + heap(pieces)


def heap(done):
    """The same for what the C library's own heap holds below its end."""
    walls.libc.sbrk.restype = ctypes.c_void_p
    piece = walls.libc.sbrk(ctypes.c_ssize_t(0)) // HUGE - 1
    count = 0
    while piece in done or collapse(piece):
        count += piece not in done
        piece -= 1
    return count


def collapse(piece):
    return walls.libc.madvise(ctypes.c_void_p(piece * HUGE), ctypes.c_size_t(HUGE), MADV_COLLAPSE) == 0
