# Signals a neighbour: the gateway.
import os

try:
    os.kill(GATEWAY, 0)
    print("OPEN: the gateway could be signalled")
except OSError as error:
    print("OPEN: kill was let through to the kernel:", error.strerror)
