"""Larger pages for the zygote's heap: a fork copies page tables and an exit
frees them, and those of 2 MiB pages are short. A child's first write to one
splits it and copies 4 KiB, as ever.
"""

import ctypes
import gc

from _runtime import walls

HUGE = 2 << 20
MADV_COLLAPSE = 25  # since Linux 6.1; an older kernel refuses, and nothing is lost


def join():
    """Joins the pages that hold objects. To be called once, when all is warm and
    nothing is frozen yet. Returns how many large pages there are."""
    pieces = {id(thing) // HUGE for thing in gc.get_objects()}
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
