# Lists the root: nothing grants that, although a root of its own would show it.
import os

try:
    names = os.listdir("/")
    print("OPEN: the root directory could be listed (%d names)" % len(names))
except PermissionError:
    print("SHUT: listing the root directory was denied")
