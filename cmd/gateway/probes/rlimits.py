# Opens descriptors without end, and makes a file larger than it may be.
import os, tempfile

opened = []
try:
    while len(opened) < 1024:
        opened.append(os.dup(0))
except OSError:
    pass
for fd in opened:
    os.close(fd)
found = []
if len(opened) >= 1024:
    found.append("1024 descriptors could be opened")
written = 0
try:
    with tempfile.TemporaryFile() as file:
        for _ in range(256):
            written += file.write(bytes(1 << 20))
            file.flush()
except (OSError, MemoryError):
    pass
if written >= 256 << 20:
    found.append("256 MiB could be written")
print("OPEN: " + ", ".join(found) if found else "SHUT: %d descriptors could be opened, not 1024; not 256 MiB written" % len(opened))
