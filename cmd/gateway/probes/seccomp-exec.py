# Becomes another program.
import os, sys

try:
    os.execv(sys.executable, [sys.executable, "-c", "print('OPEN: another program ran')"])
except OSError as error:
    print("OPEN: execve was let through to the file system:", error.strerror)
