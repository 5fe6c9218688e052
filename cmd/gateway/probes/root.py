# Asks what there is, by name: that takes no right to open anything. An
# interpreter needs none of these, wherever it lies.
import os

found = []
for path in (CANARY, "/etc/passwd", "/etc/group", "/proc/self", "/sys/kernel", "/dev/tty", "/var/log"):
    try:
        os.lstat(path)
        found.append("a file of the gateway's" if path == CANARY else path)
    except FileNotFoundError:
        pass
    except OSError:
        found.append(path)
print("OPEN: there is " + ", ".join(found) if found else "SHUT: no path of the host's is there")
