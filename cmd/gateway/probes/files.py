# Tries to read the gateway's file, files of the host, and to write one.
import os

found = []
for path in (CANARY, "/etc/passwd", "/etc/hostname", "/proc/self/environ", "/proc/1/environ", "/sys/kernel/notes"):
    try:
        with open(path, "rb") as file:
            file.read(1)
        found.append("a file of the gateway's" if path == CANARY else path)
    except OSError:
        pass
try:
    with open(CANARY + ".written", "x"):
        found.append("the right to write beside it")
except OSError:
    pass
print("OPEN: it reached " + ", ".join(found) if found else "SHUT: no file of the gateway's or the host's could be opened")
